/** Style of the sign-in pages: light and dark, for wide and narrow screens. */
export const oauthStyle = `
:root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--text:#14181f;--soft:#5b6472;--line:#8b94a3;
--field:#fff;
--accent:#1f5eff;--accent-text:#fff;--accent-hover:#174ad1;--bad:#b3121d;--bad-page:#fdecee;
--shadow:0 1px 2px #0001,0 12px 32px #0000000f}
@media (prefers-color-scheme:dark){:root{--page:#0e1116;--card:#181c23;--text:#eef1f5;--soft:#a0a9b8;
--line:#667286;--field:#10141a;
--accent:#5b8cff;--accent-text:#08122b;--accent-hover:#7ba3ff;--bad:#ff9ea4;--bad-page:#3a1a1e;
--shadow:0 0 0 1px #262c36}}
*{box-sizing:border-box}
body{margin:0;min-height:100dvh;display:grid;place-items:center;padding:1rem;background:var(--page);
color:var(--text);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:24rem;padding:2rem;background:var(--card);border-radius:1rem;
box-shadow:var(--shadow)}
h1{margin:0;font-size:1.5rem;line-height:1.25;letter-spacing:-.01em}
p{margin:.5rem 0 0;overflow-wrap:anywhere}
.to{color:var(--soft)}
.to strong{color:var(--text);font-weight:600}
.error{margin-top:1.25rem;padding:.75rem 1rem;border-radius:.625rem;background:var(--bad-page);
color:var(--bad);font-weight:500}
form{margin-top:1.5rem;display:grid;gap:1.125rem}
form:empty,form:has(>input[type=hidden]:only-child){display:none}
label{display:grid;gap:.375rem;font-size:.875rem;font-weight:600}
input:not([type=hidden]){width:100%;height:2.875rem;padding:0 .875rem;font:inherit;font-size:1rem;
font-weight:400;color:inherit;
background:var(--field);border:1px solid var(--line);border-radius:.625rem}
input[aria-invalid]{border-color:var(--bad)}
.buttons{display:grid;gap:.625rem;margin-top:.375rem}
form+.buttons{margin-top:1.5rem}
button{height:2.875rem;padding:0 1rem;font:inherit;font-weight:600;border:1px solid transparent;
border-radius:.625rem;cursor:pointer;
background:var(--accent);color:var(--accent-text)}
button:hover{background:var(--accent-hover)}
button.plain{background:transparent;border-color:var(--line);color:var(--text)}
button.plain:hover{border-color:var(--soft)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
footer{margin-top:1.5rem;font-size:.8125rem;color:var(--soft);overflow-wrap:anywhere}
@media (max-width:30rem){body{place-items:start stretch;padding:0;background:var(--card)}main{
max-width:none;padding:2.5rem 1.25rem;border-radius:0;box-shadow:none}}
`
