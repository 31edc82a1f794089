import { choice, format, group } from './builders.ts'

const size = <const D extends string | undefined = undefined>(description: string, value?: D) =>
  format('size', `${description} Written as 512MiB, 20GiB or 1TiB.`, value as D)

const age = <const D extends string | undefined = undefined>(description: string, value?: D) =>
  format('age', `${description} Written as 36h or 30d.`, value as D)

/** Schema of `media.recordings`. */
export const recordings = group('Recordings of calls and rooms.', {
  folder: format('file-path', 'Folder of the recordings; default the folder recordings in dataDir.'),
  keep: age('Time after which a recording is deleted; default no limit.'),
  maxBytes: size('Maximum size of all recordings. Above it, the oldest ones are deleted. Default no limit.'),
  minFree: size(
    'Minimum free disk space. Below it, no new recording starts, and calls continue without one.',
    '1GiB',
  ),
  roomFormat: choice(
    'Format of recordings of rooms. mp4: the program ffmpeg, if it is installed, converts each WebM file ' +
      'after its end.',
    ['webm', 'mp4'],
    'webm',
  ),
  linkAge: age('Lifetime of a link to a recording; the API issues a new link for each request.', '24h'),
})
