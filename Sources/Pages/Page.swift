let placeholderPages = PackageResources.page_js
