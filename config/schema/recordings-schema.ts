import { parts, type Schema } from './builders.ts'

const { format, object } = parts

const size = (description: string, value?: string): Schema =>
  format('size', `${description} Written as 512MiB, 20GiB or 1TiB.`, value)

const age = (description: string, value?: string): Schema =>
  format('age', `${description} Written as 36h or 30d.`, value)

/** Schema of `media.recordings`. */
export const recordings = object('Recordings of calls.', {
  folder: format('file-path', 'Folder of the recordings; default recordings in the data folder.'),
  keep: age('Retention time of a recording; default until its deletion.'),
  maxBytes: size('Maximum size of all recordings; the oldest ones are removed first. Default no limit.'),
  minFree: size('Minimum free disk space for a new recording; calls continue without one.', '1GiB'),
  linkAge: age('Lifetime of the link to a recording; the API issues new ones.', '24h'),
})
