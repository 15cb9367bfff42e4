// ```mermaid blocks, which GitHub draws by itself, become the component that draws them here.

/** @param {import("markdown-it")} md */
export function mermaidBlocks(md) {
  const code = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    if (info.trim() !== "mermaid") return code(tokens, index, ...rest);
    return `<Mermaid code="${encodeURIComponent(content)}" />`;
  };
}
