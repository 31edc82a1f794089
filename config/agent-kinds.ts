import type {
  agentEngineKinds,
  agentModelKinds,
  agentRecogniserKinds,
  agentVoiceKinds,
} from './schema/agents-schema.ts'

/** Kind of server of voice agents: its URL, and the keys that it has besides `kind`. */
export interface AgentKind {
  /** Protocol of its URL; absent for a kind without a server. */
  readonly protocol?: 'ws' | 'http'
  /** URL of the hosted service; absent if the operator runs the server. */
  readonly url?: string
  readonly needed: readonly string[]
  readonly permitted: readonly string[]
  /** Values of keys, where the kind has not all of them. */
  readonly values?: Readonly<Record<string, readonly string[]>>
}

const openAi = 'wss://api.openai.com/v1'

/** Kinds of engines. */
export const engineKinds: Readonly<Record<(typeof agentEngineKinds)[number], AgentKind>> = {
  'openai-realtime': {
    protocol: 'ws',
    url: `${openAi}/realtime`,
    needed: ['model'],
    permitted: [
      'auth',
      'voice',
      'format',
      'dialect',
      'transcriptionModel',
      'eagerness',
      'effort',
      'output',
      'voices',
      'semanticTurns',
      'serverInterrupts',
      'truncation',
      'longestSession',
    ],
  },
  'openai-live': {
    protocol: 'ws',
    url: `${openAi}/live/sessions`,
    needed: ['models'],
    permitted: ['auth', 'model', 'voice', 'format', 'longestSession'],
  },
  'gemini-live': {
    protocol: 'ws',
    url:
      'wss://generativelanguage.googleapis.com/ws/' +
      'google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    needed: ['model'],
    permitted: ['auth', 'voice', 'notes', 'longestSession'],
    values: { auth: ['bearer'] },
  },
  'deepgram-agent': {
    protocol: 'ws',
    url: 'wss://agent.deepgram.com/v1/agent/converse',
    needed: ['model'],
    permitted: ['provider', 'transcriptionModel', 'voice', 'format', 'longestSession'],
  },
  'elevenlabs-agent': {
    protocol: 'ws',
    url: 'wss://api.elevenlabs.io/v1/convai/conversation',
    needed: ['agentId'],
    permitted: ['voice', 'format', 'signingUrl', 'overrides', 'longestSession'],
    values: { format: ['pcmu', 'pcm'] },
  },
  ultravox: {
    protocol: 'http',
    url: 'https://api.ultravox.ai/api/calls',
    needed: [],
    permitted: ['model', 'voice', 'longestSession'],
  },
  pipeline: { needed: ['recognisers', 'models'], permitted: ['voices'] },
}

/** Kinds of recognisers. */
export const recogniserKinds: Readonly<Record<(typeof agentRecogniserKinds)[number], AgentKind>> = {
  vosk: { protocol: 'ws', needed: [], permitted: [] },
  deepgram: {
    protocol: 'ws',
    url: 'wss://api.deepgram.com/v1/listen',
    needed: [],
    permitted: ['model', 'language'],
  },
  'deepgram-flux': {
    protocol: 'ws',
    url: 'wss://api.deepgram.com/v2/listen',
    needed: [],
    permitted: ['model', 'language'],
  },
  'openai-realtime': {
    protocol: 'ws',
    url: `${openAi}/realtime`,
    needed: ['model'],
    permitted: ['auth', 'language'],
  },
  'openai-file': {
    protocol: 'http',
    url: 'https://api.openai.com/v1/audio/transcriptions',
    needed: ['model'],
    permitted: ['auth', 'language'],
  },
  elevenlabs: {
    protocol: 'ws',
    url: 'wss://api.elevenlabs.io/v1/speech-to-text/realtime',
    needed: [],
    permitted: ['model', 'language'],
  },
}

/** Kinds of language models. */
export const modelKinds: Readonly<Record<(typeof agentModelKinds)[number], AgentKind>> = {
  openai: {
    protocol: 'http',
    url: 'https://api.openai.com/v1',
    needed: ['model'],
    permitted: ['auth', 'temperature', 'laterRole', 'timeout'],
  },
}

/** Kinds of voices. */
export const voiceKinds: Readonly<Record<(typeof agentVoiceKinds)[number], AgentKind>> = {
  'built-in': { needed: [], permitted: ['voice', 'language'] },
  openai: {
    protocol: 'http',
    url: 'https://api.openai.com/v1/audio/speech',
    needed: ['model', 'voice'],
    permitted: ['auth', 'language'],
  },
  elevenlabs: {
    protocol: 'ws',
    url: 'wss://api.elevenlabs.io/v1/text-to-speech',
    needed: ['voice'],
    permitted: ['model', 'language'],
  },
  deepgram: {
    protocol: 'ws',
    url: 'wss://api.deepgram.com/v1/speak',
    needed: [],
    permitted: ['model', 'voice', 'language'],
  },
  cartesia: {
    protocol: 'ws',
    url: 'wss://api.cartesia.ai/tts/websocket',
    needed: ['model', 'voice'],
    permitted: ['language'],
  },
  media: { needed: ['voice'], permitted: ['language'] },
}
