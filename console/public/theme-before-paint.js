// Runs before the first paint so that no wrong theme flashes; src/theme/theme.ts takes over afterwards.
(() => {
  let choice = 'system';
  try {
    choice = localStorage.getItem('gpuaas.theme') ?? 'system';
  } catch {
    // Storage may be blocked; the system theme is a fine answer.
  }
  const dark =
    choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
