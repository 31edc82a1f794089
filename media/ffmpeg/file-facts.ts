import { type Ffmpeg, outputOf } from './ffmpeg.ts'

/** Facts of a file with pictures, sound, or both. */
export interface FileFacts {
  readonly hasVideo: boolean
  readonly hasAudio: boolean
  /** Undefined if the file does not say. */
  readonly durationMs: number | undefined
}

/** Formats that are read. Lists of files are not among them: they could name files of the machine. */
const formats = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,flv,mpegts,mpeg,ogg,mp3,wav,aac,flac,w64'

/** Maximum size of a picture, that of a film in 4K. A larger one could need gigabytes of memory. */
const maxPixels = 4096 * 2304

/**
 * Arguments that limit the threads of the decoders, and the size of a picture. They belong before the input.
 * By default, each decoder has one thread per core.
 */
export const decoderArgs: readonly string[] = ['-threads', '2', '-max_pixels', String(maxPixels)]

/** Arguments of both programs for the file, which is their descriptor 3. */
export const inputArgs: readonly string[] = [
  ...decoderArgs,
  '-protocol_whitelist',
  'file',
  '-format_whitelist',
  formats,
  '-i',
  '/proc/self/fd/3',
]

/** Error of a file that can be read, but has neither pictures nor sound. */
export class EmptyFileError extends Error {
  readonly code = 'empty_file'

  constructor() {
    super('it has neither pictures nor sound')
    this.name = 'EmptyFileError'
  }
}

/**
 * Reads the facts of a file. Rejects with an Error if it cannot be read or `signal` ends the reading, and
 * with an {@link EmptyFileError}.
 */
export const readFileFacts = async (
  { probe }: Pick<Ffmpeg, 'probe'>,
  file: number,
  signal?: AbortSignal,
): Promise<FileFacts> => {
  signal?.throwIfAborted()
  const fields = 'stream=codec_type:stream_disposition=attached_pic:format=duration'
  const output = await outputOf(
    probe(['-v', 'error', ...inputArgs, '-show_entries', fields, '-of', 'json'], file),
    signal,
  )
  const { streams = [], format = {} } = JSON.parse(output) as ProbeOutput
  // The cover of an album is no picture that moves.
  const hasVideo = streams.some((each) => each.codec_type === 'video' && !each.disposition?.attached_pic)
  const hasAudio = streams.some((each) => each.codec_type === 'audio')
  if (!hasVideo && !hasAudio) throw new EmptyFileError()
  const seconds = Number(format.duration)
  return { hasVideo, hasAudio, durationMs: seconds > 0 ? seconds * 1000 : undefined }
}

interface ProbeOutput {
  readonly streams?: readonly {
    readonly codec_type?: string
    readonly disposition?: { readonly attached_pic?: number }
  }[]
  readonly format?: { readonly duration?: string }
}
