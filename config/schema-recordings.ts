import { parts, type Schema } from './schema-parts.ts'

const { format, object } = parts

const size = (description: string, value?: string): Schema =>
  format('size', `${description} Written as 512MiB, 20GiB or 1TiB.`, value)

const age = (description: string, value?: string): Schema =>
  format('age', `${description} Written as 36h or 30d.`, value)

/** Schema of `media.recordings`. */
export const recordings = object('Recordings of calls.', {
  folder: format('file-path', 'Their folder; without it, recordings in the data folder.'),
  keep: age('How long each is kept; without it, until somebody deletes it.'),
  maxBytes: size('Room for all together; what is beyond is removed, oldest first. Without it, no limit.'),
  minFree: size('With less free on the disk, no new recording begins; calls go on.', '1GiB'),
  linkAge: age('How long the link of a recording works; the API gives new ones.', '24h'),
})
