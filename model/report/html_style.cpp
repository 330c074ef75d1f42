// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/exporter.hpp"

namespace tidemark::report {

// Colours are those of the window's light and dark themes.
const char* htmlStyle()
{
    return R"css(:root{color-scheme:light dark;--base:#fff;--alt:#f7f8f9;--head:#e7e9ec;--line:#c0c6cc;--line2:#dde0e4;--text:#1c2126;--text2:#555d66;--link:#1b5fa6;--critical:#b3261e;--criticalbg:#fbeceb;--warning:#8f5f00;--warningbg:#fdf4e0;--ok:#25733a;--okbg:#e9f4ec;--info:#1b5fa6;--infobg:#e9f1fa}
@media screen and (prefers-color-scheme:dark){:root{--base:#1f2124;--alt:#24272a;--head:#353a3f;--line:#4b5157;--line2:#383d42;--text:#e7e9eb;--text2:#adb4bc;--link:#82b8f0;--critical:#ff8a80;--criticalbg:#3d2422;--warning:#f2bd4b;--warningbg:#383020;--ok:#7cc68d;--okbg:#22332a;--info:#82b8f0;--infobg:#22303d}}
*{box-sizing:border-box}
html{background:var(--base);color:var(--text);font:15px/1.5 system-ui,"Noto Sans","DejaVu Sans",sans-serif}
body{margin:0 auto;max-width:1080px;padding:24px 28px 40px}
header{display:flex;flex-wrap:wrap;justify-content:space-between;gap:4px 24px;border-bottom:1px solid var(--line);padding-bottom:10px;margin-bottom:22px}
header p{margin:0}.head,.muted,small,footer,figcaption,caption{color:var(--text2)}
h1{font-size:27px;line-height:1.25;margin:0 0 10px;overflow-wrap:anywhere}
h2{font-size:19px;margin:34px 0 10px}h3{font-size:16px;margin:24px 0 6px;overflow-wrap:anywhere}h4{font-size:15px;margin:18px 0 6px}
small{font-size:14px;font-weight:400;margin-left:8px}
p,li,dd{overflow-wrap:anywhere}p{margin:8px 0}.summary{max-width:880px}
code,pre,.stack{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.88em}
pre{background:var(--alt);border:1px solid var(--line2);border-radius:3px;padding:10px 12px;white-space:pre-wrap;overflow-wrap:anywhere}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));border:1px solid var(--line);margin:14px 0}
.figures>div{padding:10px 14px;border-right:1px solid var(--line2)}.figures>div:last-child{border-right:0}
.figures dt,.figures dd{margin:0;font-size:13px;color:var(--text2)}.figures .value{font-size:22px;font-weight:600;line-height:1.3;color:var(--text);font-variant-numeric:tabular-nums}
.figures .alarm .value{color:var(--critical)}
.values{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:0 28px;margin:10px 0}
.values>div{display:flex;gap:12px;justify-content:space-between;border-bottom:1px solid var(--line2);padding:3px 0}
.values dt{color:var(--text2);flex:none;max-width:60%}.values dd{margin:0;text-align:right;font-variant-numeric:tabular-nums}
.words{display:block}.words>div{justify-content:flex-start}.words dt{width:200px}.words dd{text-align:left}
.wide{overflow-x:auto;margin:12px 0}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{text-align:left;font-weight:600;padding:6px 0}
th{text-align:left;font-weight:500;color:var(--text2);border-bottom:1px solid var(--line);padding:5px 8px;vertical-align:bottom}
td{border-bottom:1px solid var(--line2);padding:5px 8px;vertical-align:top}
td.w{min-width:150px;overflow-wrap:break-word}td.w:has(code){max-width:480px}td.w:first-child{min-width:260px}td:not(.w) code{white-space:nowrap}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
tfoot td{border-top:1px solid var(--line);color:var(--text2)}tfoot strong{color:var(--text)}
th button{all:unset;cursor:pointer}th button:hover,th button:focus-visible{color:var(--link);text-decoration:underline}
th[aria-sort=ascending] button::after{content:" \25B2"}th[aria-sort=descending] button::after{content:" \25BC"}
.note{border-left:3px solid var(--info);background:var(--infobg);padding:8px 12px;margin:12px 0}
.note.good{border-color:var(--ok);background:var(--okbg)}.note.warning{border-color:var(--warning);background:var(--warningbg)}.note.critical{border-color:var(--critical);background:var(--criticalbg)}
details{border:1px solid var(--line2);border-radius:3px;margin:6px 0;padding:4px 10px}
summary{cursor:pointer;overflow-wrap:anywhere}.stack{margin:6px 0;padding-left:34px}
.figures+.figures{margin-top:-1px}figure{margin:14px 0}figure img,figure svg{max-width:100%;height:auto;display:block}figure .picture,figure img{background:#fff}
figcaption{font-size:13px;margin-top:4px}
footer{max-width:1080px;border-top:1px solid var(--line);margin-top:40px;padding-top:10px;font-size:13px;overflow-wrap:anywhere}
@media screen and (prefers-color-scheme:dark){figure .picture,figure img{filter:invert(.88) hue-rotate(180deg)}}
@page{size:auto;margin:15mm}
@media print{:root{color-scheme:light}html{font-size:10.5pt}body{max-width:none;padding:0}.wide{overflow:visible}
h1{font-size:19pt}h2,h3,h4,caption{break-after:avoid}tr,figure,.figures,.note,.values>div,li{break-inside:avoid}thead{display:table-header-group}tfoot{display:table-row-group}
table{font-size:8.5pt}th,td{padding:3px 5px}th{white-space:normal}td.w,td.w:first-child{min-width:0;overflow-wrap:anywhere}td:not(.w) code{white-space:normal}code{font-size:.85em}.figures{grid-template-columns:repeat(4,1fr)}.figures .value{font-size:15pt}
details:not([open])>*:not(summary){display:none}th button::after{content:""!important}}
)css";
}

// Columns sort by the exact value where there is one; the rows of tfoot stay. Whoever changes a byte here
// makes the hash below anew: openssl dgst -sha256 -binary | base64. A test compares.
const char* htmlScript()
{
    return R"js(
for (const table of document.querySelectorAll("table[data-sort]")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "descending" ? false
        : head.getAttribute("aria-sort") === "ascending" ? true : head.classList.contains("n");
      for (const each of table.querySelectorAll("thead th")) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const key = row => row.cells[column];
      const number = cell => cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);
      const rows = Array.from(body.rows).sort((a, b) => {
        const x = number(key(a)), y = number(key(b));
        if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
        const order = isNaN(x) ? key(a).textContent.localeCompare(key(b).textContent) : x - y;
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
}
)js";
}

const char* htmlScriptHash()
{
    return "sha256-TOCZD+HVkp87XdFXFYcnRdLpr2EEC6Rn7WiyiSfIPk0=";
}

} // namespace tidemark::report
