import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query';

interface Change<Input, Answer> {
  mutationFn: (input: Input) => Promise<Answer>;
  /** Cached responses that the change invalidates. */
  refreshes: QueryKey[];
  onSuccess?: (answer: Answer) => void;
}

/** A mutation that invalidates cached responses afterwards. */
export function useRefreshingMutation<Input, Answer>({
  mutationFn,
  refreshes,
  onSuccess,
}: Change<Input, Answer>) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: (answer) => {
      for (const queryKey of refreshes) void queryClient.invalidateQueries({ queryKey });
      onSuccess?.(answer);
    },
  });
}
