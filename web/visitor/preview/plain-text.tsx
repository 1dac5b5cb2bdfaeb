/** Shows a text as it is. */
export const PlainText = ({ text }: { readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
  <pre tabIndex={0} dir="auto">
    {text}
  </pre>
);
