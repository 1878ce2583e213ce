#include "mote/tools/html_page.h"

namespace mote::tools::html {
namespace {

const char kStyle[] = R"(<style>
:root{color-scheme:light dark;--line:#e3e6ea;--soft:#5b6570;--bar:#2f6fdb}
body{font:14px/1.45 system-ui,sans-serif;max-width:1180px;margin:24px auto;padding:0 16px;color:#1b1f24;background:#fff}
h1{font-size:22px}h2{font-size:17px;margin-top:28px}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.n,td.s,th.n,th.s,code.k{white-space:nowrap}
ul{margin:0;padding-left:18px}svg text{font:10px system-ui,sans-serif;fill:var(--soft)}
th.s{cursor:pointer}th.s:hover{text-decoration:underline}th[data-d="1"]::after{content:" \25B2"}th[data-d="-1"]::after{content:" \25BC"}
code{font:12px ui-monospace,monospace;background:#8882;padding:1px 4px;border-radius:3px}td.o{min-width:200px;overflow-wrap:break-word}
td.k{color:var(--soft);white-space:nowrap;width:1%;padding-right:24px}.w{color:#a33}.f{color:#b5651d}small{color:var(--soft)}
.b{display:block;height:9px;border-radius:2px;background:var(--bar);margin-top:6px}td.b1{width:120px}.t{overflow-x:auto;margin-bottom:14px}
@media(prefers-color-scheme:dark){:root{--line:#30363d;--soft:#9aa4af;--bar:#6ea0ff}
body{background:#14171a;color:#e6e8ea}.w{color:#ff8a80}.f{color:#e0a060}}
</style>)";

// Columns sort by what stands in data-v, or else by the text.
const char kSort[] = R"(<script>
for(const th of document.querySelectorAll('th.s'))th.onclick=()=>{
const t=th.closest('table'),i=[...th.parentNode.children].indexOf(th),d=th.dataset.d=='1'?-1:1;
for(const o of th.parentNode.children)delete o.dataset.d;th.dataset.d=d;
const v=r=>{const c=r.children[i],x=c.dataset.v??c.textContent;return x===''?Infinity*d:isNaN(x)?x:+x};
[...t.querySelectorAll('tr')].slice(1).sort((a,b)=>{const x=v(a),y=v(b);return d*(x<y?-1:x>y?1:0)}).forEach(r=>r.parentNode.append(r))}
</script>)";

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else if (c == '\'') out += "&#39;";
    else out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
  }
  return out;
}

std::string wrapping(const std::string& name) {
  std::string out;
  for (const char c : name) out += escaped(std::string(1, c)) + (std::string("/._;:-").find(c) != std::string::npos ? "<wbr>" : "");
  return out;
}

std::string page(const std::string& title, const std::string& body) {
  return "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width,initial-scale=1\"><title>" +
         escaped(title) + "</title>" + kStyle + "</head><body>" + body + kSort + "</body></html>\n";
}

}  // namespace mote::tools::html
