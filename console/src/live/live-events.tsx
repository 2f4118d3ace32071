import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followEvents } from './follow-events.ts';
import { checkConnection, useLostAt } from './connection.ts';
import { useStreamStatus } from './stream-status.ts';

const POLL_MS = 5_000;

/** The tab's one live subscription, and polling for as long as it is not open. */
export function LiveEvents() {
  const queryClient = useQueryClient();
  const status = useStreamStatus();

  useEffect(() => {
    const stop = new AbortController();
    void followEvents(queryClient, stop.signal);
    return () => stop.abort();
  }, [queryClient]);

  useEffect(() => {
    if (status === 'open') return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) void queryClient.invalidateQueries();
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [queryClient, status]);

  const lost = useLostAt() !== null;
  useEffect(() => {
    if (!lost) void queryClient.invalidateQueries();
  }, [queryClient, lost]);
  useEffect(() => {
    const check = () => void checkConnection();
    window.addEventListener('offline', check);
    return () => window.removeEventListener('offline', check);
  }, []);

  return null;
}
