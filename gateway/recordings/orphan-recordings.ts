import type { RecordingIndexDeps } from './recording-index.ts'

/** Files that were written more recently than this before now stay, in ms: their rows may be on their way. */
const minOrphanAgeMs = 3_600_000

/**
 * Removes the recordings that no row names, as a crash came between the two: nobody can ask for them. Only those go that were written over
 * an hour before `now` (ms since the Unix epoch). Each is logged. Rejects when the rows or the folder cannot be read.
 */
export const removeOrphans = async (
  { rows, folder, log, onRemoved }: RecordingIndexDeps,
  now: number,
): Promise<void> => {
  for await (const files of folder.files()) {
    const known = await rows.known(files.map(({ id }) => id))
    for (const { id, path } of files) {
      if (known.has(id)) continue
      try {
        if (!(await folder.removeOlder(path, now - minOrphanAgeMs))) continue
        onRemoved('orphan')
        log.warn({ file: path, by: 'orphan' }, 'a recording that no row names is removed')
      } catch (error) {
        log.error({ file: path, by: 'orphan', err: error }, 'a recording could not be removed')
      }
    }
  }
}
