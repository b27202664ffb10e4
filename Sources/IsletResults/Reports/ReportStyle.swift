// How the page looks: on a phone, on a desk, in the dark, on paper.
//
// Guarantees: no address outside of the file; no element is wider than the window (wide tables scroll within their frame); colours
// are those of the charts; on paper closed parts stay closed, and figures are not parted from their captions.

import IsletFiles

enum ReportStyle {
    static var css: String {
        ChartStyle.properties + ChartStyle.rules + page
    }

    private static let page = """
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%}
        body{margin:0;background:var(--b);color:var(--k);font:16px/1.5 \(ChartStyle.font);overflow-wrap:break-word}
        main{max-width:72rem;margin:0 auto;padding:1.5rem 1.25rem 3rem}
        header{border-bottom:2px solid var(--k);margin-bottom:1.25rem;padding-bottom:.75rem}
        h1{font-size:1.75rem;line-height:1.2;margin:.1rem 0 .3rem}
        h2{font-size:1.3rem;line-height:1.25;margin:2.5rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--g)}
        h3{font-size:1.02rem;margin:1.4rem 0 .3rem}
        a{color:var(--s0)}p,li{max-width:46rem}p{margin:.5rem 0}
        .kind{text-transform:uppercase;letter-spacing:.08em;font-size:.75rem;color:var(--m);margin:0}
        .facts,.note,figcaption{color:var(--m);font-size:.9rem}
        .question{font-size:1.12rem;margin:.75rem 0}
        .verdict{border-left:5px solid var(--m);padding:.4rem 0 .4rem 1rem;margin:1rem 0;max-width:52rem}
        .verdict.shown{border-color:var(--s0)}.verdict.refused{border-color:var(--s1)}
        .verdict p{max-width:none}.verdict p:first-child{margin-top:0}.verdict p:last-child{margin-bottom:0}
        .warn{border:1px solid var(--s1);padding:.5rem .75rem;max-width:52rem}
        span[data-path],.ci{white-space:nowrap;font-variant-numeric:tabular-nums}
        code{font:.88em ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
        pre{overflow-x:auto;border:1px solid var(--g);padding:.6rem .8rem;max-width:100%}pre code{overflow-wrap:normal}
        .wide{overflow-x:auto;margin:.75rem 0;max-width:100%}
        .wide:focus-visible,summary:focus-visible,pre:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
        table{border-collapse:collapse;font-size:.875rem;line-height:1.35;font-variant-numeric:tabular-nums}
        caption{text-align:left;color:var(--m);padding-bottom:.3rem;max-width:calc(100vw - 2.2rem)}
        th,td{padding:.32rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--g)}
        thead th{border-bottom:2px solid var(--m);vertical-align:bottom;font-weight:600}
        th:first-child,td:first-child{padding-left:0}
        tbody th{font-weight:600}td.n,th.n{text-align:right}td.n{white-space:nowrap}
        td .ci{display:block;color:var(--m);font-size:.92em}td.in .ci{display:inline}
        td.name,th.name{min-width:9rem;overflow-wrap:anywhere}
        table code{white-space:nowrap}
        th.long{min-width:17rem;font-weight:500}td.whole{white-space:nowrap}
        .unit{display:block;font-weight:400;color:var(--m)}
        tr.ref td,tr.ref th{background:color-mix(in srgb,var(--g) 35%,var(--b))}
        .figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:1.25rem 2rem;margin:1rem 0}
        .figures.few{max-width:50rem}
        figure{margin:0;min-width:0}.example figure+figure{margin-top:1.5rem}figcaption{margin-top:.35rem;max-width:46rem}
        .only-narrow{display:none}
        details{margin:.75rem 0}summary{cursor:pointer;color:var(--s0);font-weight:600}
        @media (max-width:46rem){main{padding:1rem .9rem 2rem}h1{font-size:1.4rem}table{font-size:.8rem}th,td{padding:.28rem .4rem}tbody th.name{min-width:7.6rem;position:sticky;left:0;background:var(--b)}table td.name{min-width:5.6rem}tbody th.long{min-width:10.5rem}.settings thead{display:none}.settings,.settings tbody,.settings tr,.settings th,.settings td{display:block;border:0}.settings tr{border-bottom:1px solid var(--g);padding:.3rem 0}.settings th,.settings td{padding:.05rem 0}.settings td.n{text-align:left;white-space:normal}.settings td:last-child{color:var(--m)}td.in .ci{display:block}.only-wide{display:none}.only-narrow{display:block}}
        @page{size:A4;margin:13mm 12mm}
        @media print{
        body{font-size:9.5pt;line-height:1.36}main{padding:0;max-width:none}h1{font-size:17pt}h2{font-size:12.5pt;margin-top:1.1rem;break-after:avoid}h3{break-after:avoid}
        table{font-size:7.6pt}th,td{padding:.12rem .32rem}.wide{overflow:visible}
        figure,tr,.verdict,.panel{break-inside:avoid}.figures{grid-template-columns:repeat(2,minmax(0,1fr));gap:.6rem 1.2rem}
        .figures.many{grid-template-columns:repeat(3,minmax(0,1fr))}
        details:not([open]){display:none}.only-wide{display:block}.only-narrow{display:none}pre{white-space:pre-wrap}
        td.name,th.name{min-width:4.6rem}tbody th.long{min-width:11rem}a{color:inherit}.example .note{break-after:avoid;break-inside:avoid}.example figure{max-width:150mm}
        }

        """
}
