import { format, group } from './builders.ts'

const size = <const D extends string | undefined = undefined>(description: string, value?: D) =>
  format('size', `${description} Written as 512MiB, 20GiB or 1TiB.`, value as D)

const age = <const D extends string | undefined = undefined>(description: string, value?: D) =>
  format('age', `${description} Written as 36h or 30d.`, value as D)

/** Schema of `media.recordings`. */
export const recordings = group('Recordings of calls.', {
  folder: format('file-path', 'Folder of the recordings; default recordings in the data folder.'),
  keep: age('Retention time of a recording; default until its deletion.'),
  maxBytes: size('Maximum size of all recordings; the oldest ones are removed first. Default no limit.'),
  minFree: size('Minimum free disk space for a new recording; calls continue without one.', '1GiB'),
  linkAge: age('Lifetime of the link to a recording; the API issues new ones.', '24h'),
})
