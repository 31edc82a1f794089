import type { RecordingIndexDeps } from './recording-index.ts'

/** Minimum age of an orphan file, in ms: the row of a newer file may not be saved yet. */
const minOrphanAgeMs = 3_600_000

/**
 * Removes files without a row, left by a crash before the row was written. Only files older than an hour at
 * `now` (ms since the Unix epoch) are removed; each is logged. Rejects if the rows or the folder cannot be
 * read.
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
        log.warn(
          { event: 'recording.orphan-removed', file: path, by: 'orphan' },
          'recording without a row removed',
        )
      } catch (error) {
        log.error(
          { event: 'recording.removal-failed', file: path, by: 'orphan', err: error },
          'recording not removed',
        )
      }
    }
  }
}
