// SPDX-License-Identifier: Apache-2.0

/// The design of a report: on a phone and on a desk, by day and by night, and on paper.
enum Style {
    /// The class of the line of a peer or a drive with this number, from 0. There are six colours.
    static func line(_ number: Int) -> String { "line\(number % 6 + 1)" }

    static let sheet = """
        :root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#59636e;--rule:#d8dee4;--card:#f6f8fa;\
        --gap:#cf222e2e;--mark:#8250df;--good:#1a7f37;--fair:#9a6700;--poor:#cf222e;\
        --c1:#0969da;--c2:#bf5700;--c3:#1a7f37;--c4:#8250df;--c5:#bf3989;--c6:#57606a;\
        --s0:#8c959f;--s1:#1f5fbf;--s2:#3fa0e0;--s3:#e3a800;--s4:#e36209;--s5:#b3132b}
        @media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--soft:#9aa4af;--rule:#30363d;--card:#161b22;\
        --gap:#f8514940;--mark:#bc8cff;--good:#3fb950;--fair:#d29922;--poor:#ff7b72;\
        --c1:#58a6ff;--c2:#f0883e;--c3:#3fb950;--c4:#bc8cff;--c5:#f778ba;--c6:#9aa4af;\
        --s0:#768390;--s1:#4184e4;--s2:#79c0ff;--s3:#eac54f;--s4:#f0883e;--s5:#ff5d6c}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
        main{max-width:46rem;margin:0 auto;padding:16px;overflow-wrap:anywhere}
        h1{font-size:1.5rem;line-height:1.2;margin:.2em 0 .6em}
        h2{font-size:1.25rem;line-height:1.25;margin:0}
        h3{font-size:1rem;margin:1.6em 0 .4em}
        h4{font-size:.875rem;margin:1em 0 .2em;color:var(--soft)}
        p{margin:.4em 0}
        .drive{margin-top:2.5em;border-top:3px solid var(--rule);padding-top:12px}
        h1+.drive{margin-top:0;border-top:0;padding-top:0}
        .about,.note{color:var(--soft);font-size:.875rem}
        .verdict{background:var(--card);border-left:5px solid;border-radius:4px;padding:8px 12px;margin:12px 0}
        .verdict>p:first-child{font-weight:600}
        .verdict ul{margin:.4em 0;padding-left:1.2em}
        .verdict li{margin:.3em 0}
        .advice{color:var(--soft)}
        .good{border-color:var(--good)}.fair{border-color:var(--fair)}.poor{border-color:var(--poor)}
        b.good{color:var(--good)}b.fair{color:var(--fair)}b.poor{color:var(--poor)}
        .plot{display:block;overflow:visible}
        .label{font-size:12px;fill:var(--soft);paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}
        .number{fill:var(--mark);font-weight:700}
        .rule{stroke:var(--rule)}.gap{fill:var(--gap)}.bar{fill:var(--c1)}
        .mark{stroke:var(--mark);stroke-dasharray:3 3}
        .line{fill:none;stroke-width:1.6;vector-effect:non-scaling-stroke;stroke-linejoin:round}
        .line1{stroke:var(--c1)}.line2{stroke:var(--c2)}.line3{stroke:var(--c3)}
        .line4{stroke:var(--c4)}.line5{stroke:var(--c5)}.line6{stroke:var(--c6)}
        .cast{stroke:var(--c2);stroke-width:3.5}.delivered{stroke:var(--c1)}
        .legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;margin:4px 0;padding:0;font-size:.875rem}
        .key{display:inline-block;width:18px;height:4px;border-radius:2px;margin-right:6px;vertical-align:middle}
        .key.line1,.key.delivered{background:var(--c1)}.key.line2,.key.cast{background:var(--c2)}
        .key.line3{background:var(--c3)}.key.line4{background:var(--c4)}
        .key.line5{background:var(--c5)}.key.line6{background:var(--c6)}
        .scroll{overflow-x:auto;margin-bottom:28px}
        table{border-collapse:collapse;width:100%;font-size:.875rem;overflow-wrap:normal}
        th,td{text-align:left;vertical-align:top;padding:4px 10px 4px 0;border-bottom:1px solid var(--rule)}
        td:last-child,th:last-child{padding-right:0}
        .figures td,.gaps td:not(:first-child),.gaps th:not(:first-child),.compare td,.compare thead th:not(:first-child)\
        {text-align:right;font-variant-numeric:tabular-nums}
        .figures th,.compare th,.gaps th,.marks th{font-weight:400}
        .compare{table-layout:fixed;max-width:60em}
        .compare thead th{font-weight:600;overflow-wrap:anywhere}
        .gaps td,.gaps th{white-space:nowrap}
        .figures,.drive .gaps{max-width:30rem}.marks td:nth-child(2){width:5em}
        .marks th{color:var(--mark);width:2.2em;font-weight:700}
        .map>svg{display:block;background:var(--card);border:1px solid var(--rule);border-radius:6px;overflow:hidden}
        .map path{fill:none;stroke-linecap:round;stroke-linejoin:round;vector-effect:non-scaling-stroke}
        .map .way{stroke-width:4}.map .casing{stroke-width:8;opacity:.35}
        .map .gone-edge{stroke:var(--card);stroke-width:7}
        .map .gone{stroke:var(--ink);stroke-width:4;stroke-linecap:butt;stroke-dasharray:5 4}
        .map .label{fill:var(--ink);stroke:var(--card)}
        .map circle.zone{fill:var(--card);stroke:var(--ink);stroke-width:2}
        .map text.zone{font-weight:700;stroke:none}
        .map .scale{stroke:var(--ink);stroke-width:2}
        .start{fill:var(--card);stroke:var(--ink);stroke-width:2}.end{fill:var(--ink)}
        .way.signal0{stroke:var(--s0)}.way.signal1{stroke:var(--s1)}.way.signal2{stroke:var(--s2)}
        .way.signal3{stroke:var(--s3)}.way.signal4{stroke:var(--s4)}.way.signal5{stroke:var(--s5)}
        .key.signal0{background:var(--s0)}.key.signal1{background:var(--s1)}.key.signal2{background:var(--s2)}
        .key.signal3{background:var(--s3)}.key.signal4{background:var(--s4)}.key.signal5{background:var(--s5)}
        .key.gone{background:repeating-linear-gradient(90deg,var(--ink) 0 5px,transparent 5px 8px)}
        .dot{display:inline-block;width:10px;height:10px;border-radius:5px;margin-right:6px}
        .dot.start{border:2px solid var(--ink)}.dot.end{background:var(--ink)}
        .zones td{white-space:nowrap}.zones th{font-weight:700;width:2.2em}.zones thead th{font-weight:400;white-space:nowrap}
        @media (max-width:735px){.map .wide{display:none}.map .way{stroke-width:3}.map .casing{stroke-width:5}}
        @media print{.drive{break-inside:auto}}
        """
}
