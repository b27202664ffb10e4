#if Serve
    import Hummingbird
    import HummingbirdTLS
    import Logging
    import NIOCore
    import NIOSSL
#endif
