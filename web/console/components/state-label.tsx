/** Shows a state as text with a colored dot. The color carries no information that the text does not. */
export const StateLabel = ({ tone, children }: { tone: 'good' | 'waiting' | 'inactive' | 'bad'; children: string }) => (
  <span className="state" data-tone={tone}>
    {children}
  </span>
);
