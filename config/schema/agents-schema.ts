import {
  choice,
  duration,
  flag,
  format,
  group,
  integer,
  map,
  number,
  object,
  secret,
  text,
} from './builders.ts'

/** Kinds of engines of voice agents: servers that hear and speak, and the pipeline of separate parts. */
export const agentEngineKinds = [
  'openai-realtime',
  'openai-live',
  'gemini-live',
  'deepgram-agent',
  'elevenlabs-agent',
  'ultravox',
  'pipeline',
] as const

/** Kinds of recognisers of a pipeline. */
export const agentRecogniserKinds = [
  'vosk',
  'deepgram',
  'deepgram-flux',
  'openai-realtime',
  'openai-file',
  'elevenlabs',
] as const

/** Kinds of language models of a pipeline. */
export const agentModelKinds = ['openai'] as const

/** Kinds of voices of a pipeline. */
export const agentVoiceKinds = ['built-in', 'openai', 'elevenlabs', 'deepgram', 'cartesia', 'media'] as const

/** Kinds of detectors of a caller's voice. */
const agentDetectorKinds = ['level', 'silero'] as const

/** Packages that can run the model of the detector `silero`. */
const agentDetectorRuntimes = ['onnxruntime-node', 'onnxruntime-web'] as const

/** Maximum number of parts of one sort that an engine names. */
const maxParts = 8

const url = format(
  'server-url',
  'URL of the server; private addresses are permitted. Default the URL of the hosted service, if the kind ' +
    'has one.',
)

const key = secret(
  'API key, preferably from an environment variable; required for the URL of the hosted service.',
  1,
)

const auth = choice(
  'Header of the key: bearer is Authorization, api-key is the header of Azure. Default that of the hosted ' +
    'service. gemini-live has bearer only, for Vertex.',
  ['bearer', 'api-key'],
)

const nonEmpty = (description: string) => ({ ...text(description), minLength: 1 }) as const

/** Schema of a boolean whose default depends on the server. */
const whether = (description: string) => ({ description: `Whether ${description}`, type: 'boolean' }) as const

/** Schema of a name of a part, or of a list of names. */
const parts = (description: string) =>
  ({
    ...text(`${description} A list names further ones for failures of the first one.`),
    type: ['string', 'array'],
    items: nonEmpty('Name.'),
    minLength: 1,
    minItems: 1,
    maxItems: maxParts,
  }) as const

const engine = object(
  'Engine of voice agents.',
  {
    kind: choice(
      'Protocol of the engine. pipeline joins a recogniser, a language model and a voice; each other kind ' +
        'is one server that hears and speaks.',
      agentEngineKinds,
    ),
    url,
    key,
    auth,
    model: nonEmpty('Model, as the server names it.'),
    voice: nonEmpty('Voice, as the server names it; default that of the server.'),
    format: choice(
      'Audio format towards the server. pcm is wideband. elevenlabs-agent has no pcma. Default pcmu, if ' +
        'the server has it.',
      ['pcmu', 'pcma', 'pcm'],
    ),
    dialect: choice(
      'Names of events of openai-realtime: ga, or beta for older compatible servers. Default ga.',
      ['ga', 'beta'],
    ),
    transcriptionModel: nonEmpty(
      'Model that writes down the caller, of openai-realtime and deepgram-agent; default ' +
        'gpt-4o-mini-transcribe or Flux.',
    ),
    provider: nonEmpty('Provider of the model of deepgram-agent, as it names it; default open_ai.'),
    eagerness: choice(
      'Eagerness of openai-realtime to end the turn of a caller by its meaning; default auto.',
      ['low', 'medium', 'high', 'auto'],
    ),
    effort: nonEmpty(
      'Effort of models of openai-realtime that reason, such as low; default that of the model.',
    ),
    output: choice(
      'Output of openai-realtime: audio, or text that a voice of voices speaks. Default audio.',
      ['audio', 'text'],
    ),
    semanticTurns: whether(
      'the server of openai-realtime can end a turn by its meaning (semantic_vad). Default true for the ' +
        'dialect ga, false for beta.',
    ),
    serverInterrupts: whether(
      'the server of openai-realtime cancels its answer at the voice of the caller. Default true; ' +
        'enable_barge false switches it off, too.',
    ),
    truncation: whether(
      'the server of openai-realtime knows conversation.item.truncate. Without it, the model does not ' +
        'learn which part of an answer was heard. Default true.',
    ),
    notes: whether(
      'the server of gemini-live takes texts that it does not answer (clientContent) after the begin. ' +
        'Otherwise they wait for the next text. Default true for models of Gemini 2, false for later ones.',
    ),
    agentId: nonEmpty('Id of the agent for elevenlabs-agent, which requires it.'),
    signingUrl: format(
      'http-url',
      'URL of the request for a signed URL, of elevenlabs-agent, for agents that require it. The request ' +
        'has the key, which is required then; url is not permitted beside it. Default none.',
    ),
    overrides: whether(
      'elevenlabs-agent sends prompt, first message, language and voice of the document. Without it, the ' +
        'agent is as the service has it. Default true.',
    ),
    longestSession: format(
      'duration',
      'Time after which a session is replaced by a new one, in a pause of the conversation. Written as ' +
        '500ms, 30s, 5m or 4h. Default shortly before the limit of the server.',
    ),
    recognisers: parts('Recogniser of a pipeline, by its name in agents.recognisers.'),
    models: parts(
      'Language model, by its name in agents.models: the model of a pipeline, or the one to which ' +
        'openai-live delegates.',
    ),
    voices: parts(
      'Voice of a pipeline, or of openai-realtime with the output text, by its name in agents.voices; ' +
        'default built-in.',
    ),
    fallback: nonEmpty('Name of the engine that continues the conversation if this one fails.'),
  },
  ['kind'],
)

const recogniser = object(
  'Speech recogniser of pipelines.',
  {
    kind: choice(
      'Protocol of the recogniser. openai-file sends each turn as a file after its end; the others stream.',
      agentRecogniserKinds,
    ),
    url,
    key,
    auth,
    model: nonEmpty('Model, as the server names it.'),
    language: nonEmpty('Language if a document names none, such as en-US.'),
  },
  ['kind'],
)

const model = object(
  'Language model of pipelines.',
  {
    kind: choice('Protocol of the model: openai is POST /chat/completions, which most servers have.', [
      ...agentModelKinds,
    ]),
    url: {
      ...url,
      description:
        'Base URL, to which /chat/completions is appended, such as http://localhost:11434/v1; private ' +
        'addresses are permitted. Default that of OpenAI.',
    },
    key,
    auth,
    model: nonEmpty('Model, as the server names it.'),
    temperature: number('Temperature if a document names none; default that of the server.', 0, 2),
    laterRole: choice(
      'Role of system messages after the first; some templates of self-hosted models reject system. ' +
        'Default system.',
      ['system', 'developer', 'user'],
    ),
    timeout: duration('Maximum time to the first part of an answer.', '10s'),
  },
  ['kind', 'model'],
)

const voice = object(
  'Voice of pipelines.',
  {
    kind: choice(
      'Protocol of the voice. built-in needs no server, media is a voice of media.speech.voices.',
      agentVoiceKinds,
    ),
    url,
    key,
    auth,
    model: nonEmpty('Model, as the server names it.'),
    voice: nonEmpty('Voice, as the server names it; for media, its name in media.speech.voices.'),
    language: nonEmpty('Language if a document names none, such as en-US.'),
  },
  ['kind'],
)

const namesOf = (what: string, section: string) =>
  map(
    `${what} of documents, with their names in agents.${section}. A name that ends with * matches all ` +
      'names that begin so. Case is ignored. A document may also use the configured name itself.',
    nonEmpty(`Name in agents.${section}.`),
    {},
  )

/** Schema of `agents`. */
export const agents = group('Voice agents. They are off unless an engine is configured.', {
  default: nonEmpty('Engine of agents whose documents name none; default the only engine.'),
  engines: map('Engines by name.', engine, {}),
  recognisers: map('Speech recognisers of pipelines by name.', recogniser, {}),
  models: map('Language models by name.', model, {}),
  voices: map('Voices of pipelines by name. The name built-in is reserved.', voice, {}),
  names: group(
    'Names in documents for models, voices and recognisers. For a name that is not found, the engine uses ' +
      'its own, and logs a warning.',
    {
      models: namesOf('Models', 'models'),
      voices: namesOf('Voices', 'voices'),
      recognisers: namesOf('Recognisers', 'recognisers'),
    },
  ),
  limits: group('Limits of conversations with agents.', {
    callsPerProject: integer(
      'Maximum number of concurrent conversations of one project; a further one fails.',
      1,
      1_000_000,
      100,
    ),
    duration: duration('Maximum duration of a conversation; it then ends like a hard stop.', '1h'),
    functionTimeout: duration('Maximum time of a function; the model then gets a failure.', '20s'),
    tokens: integer(
      'Maximum number of tokens of the language model in one conversation; it then ends. Default no limit.',
      1000,
      1_000_000_000,
    ),
  }),
  detector: group("Detector of callers' voices.", {
    kind: choice(
      'level finds every sound that is louder than the noise. silero also runs a model on these sounds, so ' +
        'that only speech counts as voice; its packages are installed by the operator.',
      agentDetectorKinds,
      'level',
    ),
    folder: format(
      'file-path',
      'Folder with the packages of silero, which requires it. Their code runs in the gateway.',
    ),
    runtime: choice(
      'Package that runs the model of silero. onnxruntime-web is slower, and needs no native code.',
      agentDetectorRuntimes,
      'onnxruntime-node',
    ),
    model: format(
      'file-path',
      'File of the Silero model, version 5 or 6 (ONNX). It is read once at start. Default that of ' +
        '@ricky0123/vad-web in the folder.',
    ),
    threshold: {
      ...number('Probability from which silero takes audio for speech.', 0.2, 0.95),
      default: 0.5,
    },
  }),
  silence: group(
    'Turn-taking of agents that are resources or entries of this file, unless their params have the key. ' +
      'Documents of scripts have the defaults of their language.',
    {
      endOfSpeech: duration(
        'Silence that ends the turn of a caller, from 250ms to 10s; end_of_speech_timeout.',
        '300ms',
      ),
      semantic: flag(
        'Whether the meaning may end a turn earlier, if the engine can tell; enable_turn_detection.',
        true,
      ),
    },
  ),
})
