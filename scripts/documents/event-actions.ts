/** Actions of an operator on log events, by event key, where the level alone does not say what to do. */
export const eventActions: Readonly<Record<string, string>> = {
  'config.reload-failed':
    'Run `scripts/trunkline check`, correct the file, and reload. The old one stays in force.',
  'store.unavailable':
    'Free disk space, or repair the disk or its permissions. New calls are rejected until then.',
}
