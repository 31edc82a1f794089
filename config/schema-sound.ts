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
    key: { ...text('API key, of openai; better from the environment.'), minLength: 1, writeOnly: true },
    format: { ...text('What openai is to answer with; default wav.'), enum: ['wav', 'mp3', 'opus'] },
    method: { ...text('Method of a template; default POST.'), enum: ['GET', 'POST'] },
    headers: map(
      'Headers of a template; placeholders are filled in. The type of the body is application/json where none is given.',
      { ...text('A value.'), writeOnly: true },
    ),
    body: {
      ...text('Body of a template; placeholders are filled in, escaped as JSON, XML or a form by its type.'),
      writeOnly: true,
    },
    voice: text('Voice where none is named.'),
    language: text('Language where none is named, such as en-US.'),
    timeout: duration('How long an answer may take, before the built-in voice speaks instead.', '8s'),
    ssml: flag(
      'Sends sound SSML in one request, well formed; else its text alone, piece by piece between its pauses.',
      false,
    ),
  },
  ['name', 'kind', 'url'],
)

const voice = object(
  'A voice that documents may name.',
  {
    engine: text('Name of an engine, or built-in.'),
    voice: text('As the engine names it; without it, that of the engine.'),
    language: text('Where a document names none.'),
    gender: {
      ...text(
        'Speaks where a document wants a voice of this gender and names none; built-in voices have theirs.',
      ),
      enum: ['male', 'female'],
    },
  },
  ['engine'],
)

const recogniser = object(
  'Understands what callers say, over WebSockets with the protocol of vosk-server; without it, only keys are collected.',
  {
    url: format('ws-url', 'Where it is, also at a private address.'),
    languages: map(
      'Other URLs, by language: de stands for de-AT too. What is not here goes to url.',
      format('ws-url', 'Where this language is understood.'),
      {},
    ),
    headers: map('Further headers of the opening request.', { ...text('A value.'), writeOnly: true }, {}),
    token: {
      ...text('Sent as Authorization: Bearer; better from the environment.'),
      minLength: 1,
      writeOnly: true,
    },
    sampleRate: { description: 'Of the audio that it gets, in Hz.', enum: [8000, 16_000], default: 16_000 },
    hints: flag(
      'Sends the hints of documents as phrase_list. A vosk-server understands nothing else then; off, it gets none.',
      true,
    ),
    timeout: duration('How long a connection may take; at most 5 s of speech are kept meanwhile.', '3s'),
  },
  ['url'],
)

/** Schema of `media.speech`. */
export const speech = object('Speech: text that is spoken, and callers who are understood.', {
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
  recogniser,
})
