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
  folder: format('file-path', 'Folder of files that documents may play as file:<name>; default none.'),
  maxSize: integer('Maximum size of one audio file in MiB.', 1, 64, 16),
  maxDuration: duration('Maximum duration of one sound.', '10m'),
  timeout: duration('Maximum time to fetch one audio file.', '10s'),
  memory: integer('Maximum memory for decoded and synthesized sounds in MiB.', 1, 16_384, 64),
  httpCache: integer(
    'Maximum memory for fetched audio files (HTTP cache) in MiB; 0 turns the cache off.',
    0,
    16_384,
    64,
  ),
})

const engine = object(
  'Text-to-speech engine over HTTP.',
  {
    name: format('name', 'Name for voices, logs and metrics; built-in is reserved.'),
    kind: choice(
      'Interface of the engine: openai is POST /v1/audio/speech. template describes any other server that ' +
        'returns audio, by method, headers and body.',
      ['openai', 'template'],
    ),
    url: format(
      'http-url',
      'URL of the engine; private addresses are permitted. A template may contain {{text}}, {{voice}} ' +
        'and {{language}}.',
    ),
    model: { ...text('Model for openai, which requires it.'), minLength: 1 },
    key: secret('API key for openai, preferably from an environment variable.', 1),
    format: choice('Audio format to request from openai; default wav.', ['wav', 'mp3', 'opus']),
    method: choice('HTTP method of a template; default POST.', ['GET', 'POST']),
    headers: map(
      'Headers of a template, with the placeholders of url. The default Content-Type is application/json.',
      secret('Value of the header.'),
    ),
    body: secret(
      'Body of a template, with the placeholders of url. Their values are escaped for the Content-Type: ' +
        'JSON, XML or a form.',
    ),
    voice: text('Voice if a document specifies none.'),
    language: text('Language if a document specifies none, such as en-US.'),
    timeout: duration('Maximum time to respond; the built-in voice then speaks instead.', '8s'),
    ssml: flag(
      'Sends valid SSML as a whole. With false, only its text is sent, one request for each part between ' +
        'pauses.',
      false,
    ),
  },
  ['name', 'kind', 'url'],
)

const voice = object(
  'Voice for documents.',
  {
    engine: text('Name of an engine, or built-in.'),
    voice: text('Name that the engine uses for the voice; default the voice of the engine.'),
    language: text('Language if a document specifies none.'),
    gender: choice(
      'Gender, for documents that specify a gender but no voice. A built-in voice has its own by default.',
      ['male', 'female'],
    ),
  },
  ['engine'],
)

const recogniser = object(
  'Speech recogniser with the WebSocket protocol of vosk-server. Without one, only digits are collected.',
  {
    url: format('ws-url', 'URL of the recogniser; private addresses are permitted.'),
    languages: map(
      'URLs by language; de includes de-AT. All other languages use url.',
      format('ws-url', 'URL of the recogniser of this language.'),
      {},
    ),
    headers: map('Additional headers of the opening request.', secret('Value of the header.'), {}),
    token: secret('Token for Authorization: Bearer, preferably from an environment variable.', 1),
    sampleRate: { description: 'Sample rate of the audio in Hz.', enum: [8000, 16_000], default: 16_000 },
    hints: flag(
      'Sends the hints of documents as phrase_list. A vosk-server then recognises only these phrases.',
      true,
    ),
    timeout: duration('Maximum time to connect. At most 5 s of speech are buffered until then.', '3s'),
  },
  ['url'],
)

/** Schema of `media.speech`. */
export const speech = group('Speech synthesis and recognition.', {
  voice: text(
    'Voice for documents that name no voice or an unknown one: a name of voices, or a built-in voice (slt, ' +
      'rms, awb, kal, kal16).',
    'slt',
  ),
  engines: list('Text-to-speech engines over HTTP, besides the built-in one.', engine, []),
  voices: map(
    'Voices by their names in documents. polly.* matches every name like polly.Joanna. Case is ignored.',
    voice,
    {},
  ),
  folder: format('file-path', 'Folder that keeps synthesized speech across restarts; default none.'),
  folderSize: integer('Maximum size of the synthesized speech in folder, in MiB.', 1, 1_048_576, 256),
  recogniser,
})
