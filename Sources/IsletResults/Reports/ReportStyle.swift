// How the page looks: on a phone, on a desk, in the dark, on paper.
//
// Guarantees: no address outside of the file; no element is wider than the window (wide tables scroll within their frame); colours are those of the charts; type
// has five sizes and two weights; on paper closed parts stay closed, the first sheet is the answer, and figures are not parted from their captions.

import IsletFiles

enum ReportStyle {
    static var css: String {
        ChartStyle.properties + ChartStyle.rules + page
    }

    private static let page = """
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
        body{margin:0;background:var(--b);color:var(--k);font:16px/1.5 \(ChartStyle.font);overflow-wrap:break-word}
        b,th,h1,h2,h3,strong{font-weight:700}
        .sheet{max-width:82rem;margin:0 auto;padding:1rem 1.25rem 3rem}
        main{min-width:0;max-width:72rem}
        header{margin-bottom:.75rem}
        h1{font-size:28px;line-height:1.2;margin:.15rem 0 .35rem;max-width:58rem;text-wrap:balance}
        h2{font-size:20px;line-height:1.25;margin:2.25rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--g)}
        h3{font-size:16px;margin:1.4rem 0 .3rem}
        .no{color:var(--m);font-weight:400;padding-right:.35rem}
        a{color:var(--s0)}p,li{max-width:68ch}p{margin:.5rem 0}
        .kind,.facts,.note,figcaption,.how>summary{font-size:14px}
        .kind{text-transform:uppercase;letter-spacing:.06em;font-size:12px;color:var(--m);margin:0}
        .facts,.note,figcaption{color:var(--m)}.facts{margin:.2rem 0 0;max-width:none}.grave{color:var(--vl);font-weight:700}
        .question{font-size:16px;margin:.25rem 0 0;color:var(--m)}
        .contents{font-size:14px}.contents ol{list-style:none;margin:0 0 .75rem;padding:0;display:flex;flex-wrap:wrap;gap:.1rem 1rem;counter-reset:part}
        .contents li::before{counter-increment:part;content:counter(part) " ";color:var(--m)}
        .contents a{display:inline-block;padding:.2rem 0}
        .cards{list-style:none;margin:.9rem 0 1rem;padding:0;display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.75rem}
        .card{border:1px solid var(--g);border-left:4px solid var(--m);border-radius:4px;padding:.5rem .75rem .55rem}
        .card p{margin:0;max-width:none}.card .word{font-size:14px;line-height:1.3;font-weight:700}
        .card .value{font-size:28px;line-height:1.25;font-variant-numeric:tabular-nums}.card small{font-size:16px}
        .card .how{font-size:14px;line-height:1.35;color:var(--m)}
        .card.good{border-left-color:var(--ok)}.card.bad{border-left-color:var(--lo)}.card.refused{border-left-color:var(--s1)}
        .good .word span{color:var(--ok)}.bad .word span{color:var(--lo)}.refused .word span{color:var(--s1)}
        .effects{list-style:none;margin:.75rem 0;padding:0}.effects li{max-width:none;padding:.1rem 0}
        .effects .good{color:var(--s2)}.effects .bad{color:var(--lo)}
        .pair{display:flex;flex-wrap:wrap;gap:1rem 1.75rem;margin:.75rem 0;align-items:flex-start}
        .verdict{border-left:4px solid var(--m);padding:.4rem 0 .4rem 1rem;margin:1rem 0;max-width:52rem}
        .verdict.shown{border-color:var(--s0)}.verdict.refused{border-color:var(--s1)}
        .verdict p{max-width:none}.verdict p:first-child{margin-top:0}.verdict p:last-child{margin-bottom:0}
        .warn{border:1px solid var(--s1);padding:.5rem .75rem;max-width:52rem}
        span[data-path],.ci{white-space:nowrap;font-variant-numeric:tabular-nums}
        code{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
        table code,.facts code,.note code,figcaption code{font-size:12px}
        pre{overflow-x:auto;border:1px solid var(--g);padding:.6rem .8rem;max-width:100%}pre code{overflow-wrap:normal}
        .wide{overflow-x:auto;margin:.75rem 0;max-width:100%}
        .wide:focus-visible,summary:focus-visible,pre:focus-visible,a:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
        table{border-collapse:collapse;font-size:14px;line-height:1.35;font-variant-numeric:tabular-nums}
        caption{text-align:left;color:var(--m);padding-bottom:.3rem;max-width:calc(100vw - 2.2rem)}
        th,td{padding:.32rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--g)}
        thead th{border-bottom:2px solid var(--m);vertical-align:bottom}
        th:first-child,td:first-child{padding-left:0}
        td.n,th.n{text-align:right}td.n{white-space:nowrap}
        td .ci{display:block;color:var(--m);font-size:12px}td.in .ci{display:inline}
        td.name,th.name{min-width:9rem;overflow-wrap:anywhere}
        table code{white-space:nowrap}
        th.long{min-width:17rem;font-weight:400}td.whole{white-space:nowrap}
        .sweep tbody th,.sweep tbody td{font-weight:400}.sweep .front th,.sweep .front td{font-weight:700}.sweep .front .ci{font-weight:400}@media (min-width:46.01rem){.sweep td .ci{display:inline;margin-left:.35rem}}
        .unit{display:block;font-weight:400;color:var(--m)}
        tr.ref td,tr.ref th{background:color-mix(in srgb,var(--g) 35%,var(--b))}
        .figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:1.25rem 2rem;margin:1rem 0}
        .figures.maps{display:flex;flex-wrap:wrap}.figures.whole{display:block}
        figure{margin:0;min-width:0}.example figure+figure{margin-top:1.5rem}figcaption{margin-top:.35rem;max-width:68ch}
        .only-narrow{display:none}
        details{margin:.75rem 0}summary{cursor:pointer;color:var(--s0);font-weight:700}
        .part{margin:0}.part>summary{color:var(--k);display:flex;gap:.5rem;align-items:baseline;list-style:none}.part>summary::-webkit-details-marker{display:none}.part>summary::before{content:"▸";color:var(--m)}.part[open]>summary::before{content:"▾"}.part>summary h2{flex:1}
        @media (min-width:1100px){.sheet{display:grid;grid-template-columns:8.5rem minmax(0,1fr);gap:1.75rem}.contents{position:sticky;top:1rem;align-self:start}.contents ol{flex-direction:column;gap:.15rem}}
        @media screen and (max-width:46rem){.sheet{padding:.9rem .9rem 2rem}h1{font-size:20px}.cards{grid-template-columns:1fr;gap:.5rem}table{font-size:12px}th,td{padding:.28rem .4rem}tbody th.name{min-width:7.6rem;position:sticky;left:0;background:var(--b)}table td.name{min-width:5.6rem}tbody th.long{min-width:10.5rem}.settings thead{display:none}.settings,.settings tbody,.settings tr,.settings th,.settings td{display:block;border:0}.settings tr{border-bottom:1px solid var(--g);padding:.3rem 0}.settings th,.settings td{padding:.05rem 0}.settings td.n{text-align:left;white-space:normal}.settings td:last-child{color:var(--m)}td.in .ci{display:block}.only-wide{display:none}.only-narrow{display:block}}
        @page{size:A4;margin:11mm 11mm}
        @media print{
        body{font-size:10pt;line-height:1.36}.sheet{display:block;padding:0;max-width:none}main{max-width:none}.contents{display:none}
        h1{font-size:16pt}h2{font-size:13pt;margin-top:1rem;break-after:avoid}h3{break-after:avoid}
        .card{padding:.25rem .5rem}.card .value{font-size:16pt}.card small{font-size:10pt}.cards{margin:.5rem 0}
        table{font-size:8pt}th,td{padding:.12rem .32rem}.wide{overflow:visible}
        figure,tr,.verdict,.card{break-inside:avoid}.figures{grid-template-columns:repeat(2,minmax(0,1fr));gap:.6rem 1.2rem}
        .pair{flex-wrap:nowrap;gap:.4rem 1rem;margin:.3rem 0}.pair .only-wide{display:none}.pair .only-narrow{display:block}
        details:not([open]){display:none}.only-wide{display:block}.only-narrow{display:none}pre{white-space:pre-wrap}
        td.name,th.name{min-width:4.6rem}tbody th.long{min-width:11rem}a{color:inherit}.example .note{break-after:avoid;break-inside:avoid}.example figure{max-width:108mm}.example figure+figure{margin-top:.5rem}
        .figures.whole figure{max-width:148mm}.figures.maps{gap:.4rem 1rem}.figures.maps figure{max-width:40%}pre{margin:.4rem 0;padding:.3rem .5rem}
        section>h2+*{break-before:avoid}
        }

        """
}
