import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query';

interface Change<Input, Answer> {
  mutationFn: (input: Input) => Promise<Answer>;
  /** The cached answers the change makes out of date. */
  refreshes: QueryKey[];
  onSuccess?: (answer: Answer) => void;
}

/** A mutation, after which what it made out of date is fetched again. */
export function useChange<Input, Answer>({ mutationFn, refreshes, onSuccess }: Change<Input, Answer>) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: (answer) => {
      for (const queryKey of refreshes) void queryClient.invalidateQueries({ queryKey });
      onSuccess?.(answer);
    },
  });
}
