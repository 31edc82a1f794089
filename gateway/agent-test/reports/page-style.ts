/** Style of the page of a test, in light and dark. */
export const pageStyle = `
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--panel:#f6f8fa;
--good:#116329;--bad:#a40e26;--caller:#0550ae;--agent:#8a3ffc;--tint:.14}
@media (prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9aa4af;--line:#30363d;
--panel:#161b22;--good:#56d364;--bad:#ff8c82;--caller:#79c0ff;--agent:#d2a8ff;--tint:.2}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.15rem;margin:2.25rem 0 .75rem}
p{margin:.25rem 0}
.soft{color:var(--soft)}
.good,.bad{font-weight:600}
.good{color:var(--good)}
.bad{color:var(--bad)}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--panel)}
.scroll:focus-visible,button:focus-visible{outline:2px solid var(--caller);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:.94rem}
caption{text-align:left;padding:.5rem .75rem;color:var(--soft)}
th,td{text-align:left;vertical-align:top;padding:.4rem .75rem;border-top:1px solid var(--line)}
th{font-weight:600}
td.number,th.number{white-space:nowrap;font-variant-numeric:tabular-nums}
td.words{min-width:14rem}
td ul{margin:0;padding-left:1.1rem}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
button{font:inherit;color:var(--caller);background:none;border:0;border-radius:4px;padding:0;
min-height:24px;min-width:24px;cursor:pointer;text-decoration:underline}
audio{width:100%;margin:.75rem 0}
svg{display:block}
svg text{fill:var(--soft);font:12px system-ui,sans-serif}
svg .name{fill:var(--text);font-weight:600}
svg .mid{stroke:var(--line)}
svg path{fill:none;stroke-width:1.4}
svg .caller{stroke:var(--caller)}
svg .agent{stroke:var(--agent)}
svg .turn{fill:var(--caller);fill-opacity:var(--tint)}
svg .speech{fill:var(--agent)}
svg .interruption{stroke:var(--bad);stroke-width:1.5}
svg .acknowledgement,svg .cough{stroke:var(--soft);stroke-dasharray:3 3}
svg .gap{stroke:var(--text);stroke-width:2}
svg .gap-text{fill:var(--text)}
svg .function line{stroke:var(--good);stroke-dasharray:4 3}
svg .function text{fill:var(--good)}
@media (max-width:40rem){.wide{display:none}th,td{padding:.4rem .5rem}td.words{min-width:11rem}}
`
