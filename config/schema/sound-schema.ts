import {
  choice,
  duration,
  flag,
  format,
  group,
  integer,
  list,
  map,
  object,
  secret,
  text,
} from './builders.ts'

/** Schema of `media.sounds`. */
export const sounds = group('Audio that documents play.', {
  folder: format('file-path', 'Folder whose files documents may play as file:name; default none.'),
  maxSize: integer('Maximum size of audio in MiB.', 1, 64, 16),
  maxDuration: duration('Maximum duration of audio.', '10m'),
  timeout: duration('Maximum time to fetch audio.', '10s'),
  memory: integer('Memory for decoded and synthesized sounds in MiB.', 1, 16_384, 64),
  httpCache: integer('Memory for the HTTP cache of audio in MiB; 0 disables it.', 0, 16_384, 64),
})

const engine = object(
  'Text-to-speech engine over HTTP.',
  {
    name: format('name', 'Name in voices, logs and metrics; not built-in.'),
    kind: choice(
      'Interface: openai is POST /v1/audio/speech; template is any other server that returns audio.',
      ['openai', 'template'],
    ),
    url: format(
      'http-url',
      'URL of the engine; private addresses are permitted. A template may contain {{text}}, {{voice}} ' +
        'and {{language}}.',
    ),
    model: { ...text('Model; required for openai.'), minLength: 1 },
    key: secret('API key for openai; preferably from the environment.', 1),
    format: choice('Audio format to request from openai; default wav.', ['wav', 'mp3', 'opus']),
    method: choice('Method of a template; default POST.', ['GET', 'POST']),
    headers: map(
      'Headers of a template; placeholders are replaced. The default Content-Type is application/json.',
      secret('A value.'),
    ),
    body: secret(
      'Body of a template; placeholders are replaced and escaped for the Content-Type: JSON, XML or a form.',
    ),
    voice: text('Default voice.'),
    language: text('Default language, such as en-US.'),
    timeout: duration('Maximum time to respond before the built-in voice speaks instead.', '8s'),
    ssml: flag(
      'Sends valid SSML as a whole; otherwise only its text, in one request per section between pauses.',
      false,
    ),
  },
  ['name', 'kind', 'url'],
)

const voice = object(
  'Voice for documents.',
  {
    engine: text('Name of an engine, or built-in.'),
    voice: text("Name of the voice in the engine; default the engine's default voice."),
    language: text('Language if a document specifies none.'),
    gender: choice(
      'Gender of the voice, for documents that specify a gender and no voice; default that of a ' +
        'built-in voice.',
      ['male', 'female'],
    ),
  },
  ['engine'],
)

const recogniser = object(
  'Speech recognizer with the WebSocket protocol of vosk-server; without one, only digits are collected.',
  {
    url: format('ws-url', 'URL of the recognizer; private addresses are permitted.'),
    languages: map(
      'URLs by language; de includes de-AT. Other languages use url.',
      format('ws-url', 'URL of the recognizer of this language.'),
      {},
    ),
    headers: map('Additional headers of the opening request.', secret('A value.'), {}),
    token: secret('Token for Authorization: Bearer; preferably from the environment.', 1),
    sampleRate: { description: 'Sample rate of the audio in Hz.', enum: [8000, 16_000], default: 16_000 },
    hints: flag(
      'Sends the hints of documents as phrase_list. A vosk-server then recognizes only these phrases.',
      true,
    ),
    timeout: duration('Maximum time to connect; at most 5 s of speech are buffered meanwhile.', '3s'),
  },
  ['url'],
)

/** Schema of `media.speech`. */
export const speech = group('Speech synthesis and recognition.', {
  voice: text(
    'Default voice for documents, also for unknown names: one of voices, or built in (slt, rms, awb, ' +
      'kal, kal16).',
    'slt',
  ),
  engines: list('Text-to-speech engines over HTTP, besides the built-in one.', engine, []),
  voices: map(
    'Voices by their names in documents; polly.* matches all names with that prefix. Case is ignored.',
    voice,
    {},
  ),
  folder: format('file-path', 'Folder that keeps synthesized speech over a restart; default none.'),
  folderSize: integer('Maximum size of the folder in MiB.', 1, 1_048_576, 256),
  recogniser,
})
