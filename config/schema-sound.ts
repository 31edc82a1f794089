import { parts } from './schema-parts.ts'

const { duration, flag, format, integer, list, map, object, text } = parts

/** Schema of `media.sounds`. */
export const sounds = object('Audio that documents play.', {
  folder: format('file-path', 'Folder whose files documents may play as file:name; without it, none.'),
  maxSize: integer('Largest audio, in MiB.', 1, 64, 16),
  maxDuration: duration('Longest audio.', '10m'),
  timeout: duration('How long fetching audio may take.', '10s'),
  memory: integer('Memory for decoded and spoken sounds, in MiB.', 1, 16_384, 64),
  httpCache: integer(
    'Memory for fetched audio, in MiB, which is kept and revalidated as its server allows; 0 keeps none.',
    0,
    16_384,
    64,
  ),
})

const engine = object(
  'A voice behind HTTP.',
  {
    name: format('name', 'Its name, in voices, logs and metrics; not built-in.'),
    kind: {
      ...text(
        'openai: the interface POST /v1/audio/speech; template: any other server that answers with audio.',
      ),
      enum: ['openai', 'template'],
    },
    url: format(
      'http-url',
      'Where it is asked, also at a private address. In a template, {{text}}, {{voice}} and {{language}} are filled in.',
    ),
    model: { ...text('Model; openai needs it.'), minLength: 1 },
    key: { ...text('API key, of openai; better from the environment.'), minLength: 1 },
    format: { ...text('What openai is to answer with; default wav.'), enum: ['wav', 'mp3', 'opus'] },
    method: { ...text('Method of a template; default POST.'), enum: ['GET', 'POST'] },
    headers: map(
      'Headers of a template; placeholders are filled in. The type of the body is application/json where none is given.',
      text('A value.'),
    ),
    body: text('Body of a template; placeholders are filled in, escaped as JSON, XML or a form by its type.'),
    voice: text('Voice where none is named.'),
    language: text('Language where none is named, such as en-US.'),
    timeout: duration('How long an answer may take, before the built-in voice speaks instead.', '8s'),
    ssml: flag('Sends sound SSML as it is; else its text alone, piece by piece between its pauses.', false),
  },
  ['name', 'kind', 'url'],
)

const voice = object(
  'A voice that documents may name.',
  {
    engine: text('Name of an engine, or built-in.'),
    voice: text('As the engine names it; without it, that of the engine.'),
    language: text('Where a document names none.'),
  },
  ['engine'],
)

/** Schema of `media.speech`. */
export const speech = object('Spoken text.', {
  voice: text(
    'Voice where a document names none, or one that nobody knows: of voices, or built in (slt, rms, awb, kal, kal16).',
    'slt',
  ),
  engines: list('Voices behind HTTP, besides the built-in one.', engine, []),
  voices: map(
    'Voices by the names in documents; polly.* stands for all that begin so. Case is ignored.',
    voice,
    {},
  ),
  folder: format('file-path', 'Folder that keeps speech over a restart; without it, none.'),
  folderSize: integer('Its largest size, in MiB.', 1, 1_048_576, 256),
})
