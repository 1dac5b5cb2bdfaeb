/** A state as a word with a dot; the colour says nothing that the word does not. */
export const StateLabel = ({ tone, children }: { tone: 'good' | 'waiting' | 'over' | 'bad'; children: string }) => (
  <span className="state" data-tone={tone}>
    {children}
  </span>
);
