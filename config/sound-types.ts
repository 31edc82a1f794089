/** Audio that is played. */
export interface SoundsConfig {
  /** The folder that `file:` URLs name files of; absent: none may be played. */
  readonly folder?: string
  /** Largest audio, in MiB; default 16. */
  readonly maxSize: number
  /** Longest audio; default 10 minutes. */
  readonly maxDurationMs: number
  /** How long a fetch may take; default 10 s. */
  readonly timeoutMs: number
  /** Decoded and spoken sounds to keep in memory, in MiB; default 64. */
  readonly memory: number
  /** Fetched audio to keep in memory, in MiB; default 64, 0 keeps none. */
  readonly httpCache: number
}

/** Spoken text. */
export interface SpeechConfig {
  /** Voice where a document names none, or one that nobody knows; default `slt`. */
  readonly voice: string
  readonly engines: readonly SpeechEngineConfig[]
  /** By name, or by the beginning of names such as `polly.*`. */
  readonly voices: Readonly<Record<string, SpeechVoiceConfig>>
  /** Keeps speech over a restart; absent: not. */
  readonly folder?: string
  /** Of it, in MiB; default 256. */
  readonly folderSize: number
  /** Absent: speech is not understood. */
  readonly recogniser?: RecogniserConfig
}

/** Understands speech, over WebSockets with the protocol of vosk-server. */
export interface RecogniserConfig {
  /** `ws:` or `wss:`. */
  readonly url: string
  /** URLs by language (BCP 47). */
  readonly languages: Readonly<Record<string, string>>
  /** Further headers of the opening request. */
  readonly headers: Readonly<Record<string, string>>
  /** A secret. */
  readonly token?: string
  /** In Hz; default 16,000. */
  readonly sampleRate: 8000 | 16000
  /** Hints are sent as list of phrases; default true. */
  readonly hints: boolean
  /** For a connection; default 3 s. */
  readonly timeoutMs: number
}

/** A voice behind HTTP. */
export interface SpeechEngineConfig {
  readonly name: string
  readonly kind: 'openai' | 'template'
  readonly url: string
  readonly voice?: string
  readonly language?: string
  /** Default 8 s. */
  readonly timeoutMs: number
  /** SSML is sent in one request; default false. */
  readonly ssml: boolean
  /** Of `openai`, which needs it. */
  readonly model?: string
  /** Of `openai`; default `wav`. */
  readonly format?: 'wav' | 'mp3' | 'opus'
  /** Of `openai`. */
  readonly key?: string
  /** Of `template`; default POST. */
  readonly method?: 'GET' | 'POST'
  /** Of `template`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Of `template`. */
  readonly body?: string
}

/** A voice that documents may name. */
export interface SpeechVoiceConfig {
  /** Name of an engine, or `built-in`. */
  readonly engine: string
  readonly voice?: string
  readonly language?: string
  /** Default: that of a built-in voice, and of no other. */
  readonly gender?: 'male' | 'female'
}
