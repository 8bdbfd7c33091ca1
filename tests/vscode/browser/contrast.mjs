// How well the texts of a page can be told from what they are written on: as WCAG 2.1 counts it (1.4.3), where
// 4.5 is what plain text needs.

/** The least contrast that a text may have. */
export const least = 4.5;

/** What runs in a page: its texts that have less contrast, with it, and how many texts it has. */
export function faintTexts(least) {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  /** The colour that is seen where colours lie on one another. */
  const seen = (...colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(document.body);
  const page = style.getPropertyValue(document.getElementById("canvas") ? "--vscode-editor-background" : "--vscode-sideBar-background");
  const below = (node) => {
    const found = [];
    for (let at = node; at; at = at.parentElement) found.unshift(getComputedStyle(at).backgroundColor);
    const box = node.closest("svg") && node.parentElement.querySelector(":scope > rect");
    return [page, ...found, ...(box ? [getComputedStyle(box).fill] : [])];
  };
  const texts = [...document.querySelectorAll("body *")].filter((node) => node.checkVisibility() && [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim() !== "") && !node.closest("script, style, title, option"));
  const faint = texts.flatMap((node) => {
    const ground = below(node), own = getComputedStyle(node);
    const [more, less] = [luminance(seen(...ground, node.closest("svg") ? own.fill : own.color)), luminance(seen(...ground))].sort((a, b) => b - a);
    const contrast = (more + 0.05) / (less + 0.05);
    return contrast < least ? [`${node.textContent.trim().slice(0, 40)}: ${contrast.toFixed(2)}`] : [];
  });
  return { count: texts.length, faint };
}
