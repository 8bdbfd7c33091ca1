// The pages in webviews. Nothing in them comes from the program that is debugged.

/** Where a page's own files are, and the one source that scripts and styles may come from. */
export interface Sources {
  script: string;
  style: string;
  own: string;
}

/** What a page has to be filled. */
export interface Form {
  title: string;
  /** The name of its script and its style sheet. */
  name: string;
  body: string;
}

/** Returns a page. Its script and its style sheet are the extension's; it loads nothing else. */
export function pageOf({ title, body }: Form, { script, style, own }: Sources, nonce: string): string {
  // Scripts place lines, and size the picture, by style.
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${own}; style-src-attr 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${style}">
<title>${title}</title>
</head>
<body>
${body}
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>
`;
}

/** The view. */
export const queuesForm: Form = {
  title: "MPI",
  name: "page",
  body: `<div id="condition" role="status"></div>
<button id="attach" type="button" class="main" hidden>Attach to a job…</button>
<div id="shown" hidden>
<div id="head">
<div id="verdict" role="status"></div>
<div id="why" tabindex="0"></div>
<div id="facts"><span id="size"></span> <button id="picture" type="button" hidden>who waits for whom</button></div>
</div>
<ul id="groups" aria-label="Where the ranks are"></ul>
<ul id="misses" aria-label="What looks like mistakes"></ul>
<details id="narrow"><summary>Filters</summary>
<form id="filters" aria-label="Filters of the operations">
<label>Rank <input name="ranks" placeholder="0-3, 6" autocomplete="off" spellcheck="false"></label>
<label>Tag <input name="tag" placeholder="7 or any" autocomplete="off" spellcheck="false"></label>
<label>Communicator <input name="communicator" list="names" autocomplete="off" spellcheck="false"></label><datalist id="names"></datalist>
<label><input type="checkbox" name="sends" checked> sends</label>
<label><input type="checkbox" name="receives" checked> receives</label>
<label><input type="checkbox" name="unexpected" checked> unexpected</label>
<label><input type="checkbox" name="local"> local ranks</label>
<label><input type="checkbox" name="internal"> the MPI library's own</label>
<button type="reset">Reset</button>
</form>
</details>
<div id="count" role="status"></div>
<div id="list" role="tree" tabindex="0" aria-label="Communicators, queues and operations"></div>
<div id="fields" role="region" aria-label="Fields of the operation" tabindex="0" hidden></div>
<ul id="notes" aria-label="Notes"></ul>
</div>`,
};

/** The tab with the picture. */
export const pictureForm: Form = {
  title: "Who waits for whom",
  name: "picture",
  body: `<header>
<div id="said"><span id="verdict" role="status"></span> <span id="why"></span> <span id="condition" role="status"></span></div>
<div id="sizes" role="group" aria-label="Size of the picture" hidden>
<button type="button" data-size="out" aria-label="Smaller" title="Smaller (-)">−</button>
<button type="button" data-size="fit" title="As wide as the tab (0)">Fit</button>
<button type="button" data-size="in" aria-label="Larger" title="Larger (+)">+</button>
</div>
</header>
<div id="canvas"></div>`,
};
