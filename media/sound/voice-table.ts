import { voiceNamed, voices } from './built-in-text.ts'
import { builtIn } from './built-in-voice.ts'
import { SoundError } from './errors.ts'
import { isLanguage } from './language.ts'

/** A voice that documents may name. */
export interface VoiceEntry {
  /** Name of an HTTP voice, or `built-in`. */
  readonly engine: string
  /** As the engine names it; default the engine's own. */
  readonly voice?: string
  /** BCP 47, where a document names none. */
  readonly language?: string
}

/** Which voice speaks. */
export type VoiceChoice = VoiceEntry

/** A choice, and what is to be said of it. */
export interface Chosen {
  readonly choice: VoiceChoice
  /** What was asked for and is not there. */
  readonly warnings: readonly string[]
}

/** Finds the voice that a document means. Names are compared without case. */
export class VoiceTable {
  readonly #exact = new Map<string, VoiceEntry>()
  /** The longest first, so that the closest one wins. */
  readonly #prefixes: readonly (readonly [prefix: string, entry: VoiceEntry])[]
  readonly #default: VoiceEntry

  /**
   * `table` has names, or beginnings of names such as `polly.*`; `fallback` is a name in it or a built-in voice. Throws a
   * {@link SoundError} for a fallback that is neither.
   */
  constructor(table: Readonly<Record<string, VoiceEntry>>, fallback: string) {
    const prefixes: [string, VoiceEntry][] = []
    for (const [name, entry] of Object.entries(table)) {
      const key = name.toLowerCase()
      if (key.endsWith('*')) prefixes.push([key.slice(0, -1), entry])
      else this.#exact.set(key, entry)
    }
    this.#prefixes = prefixes.sort(([a], [b]) => b.length - a.length)
    const found = this.#named(fallback) ?? builtInEntry(fallback)
    if (!found) {
      throw new SoundError(
        `Speech: one of ${voices.join(', ')}, or of the table, expected as voice, found ${fallback}`,
      )
    }
    this.#default = found
  }

  /**
   * The voice by this name, in this language. For a name that nobody knows it is the default, as documents for other services name voices
   * of theirs; what is no language is left out. Either is warned of.
   */
  choose(name: string | undefined, language: string | undefined): Chosen {
    const named = name ? (this.#named(name) ?? this.#ofBuiltIn(name)) : this.#default
    const entry = named ?? this.#default
    const isUsable = language ? isLanguage(language) : false
    return {
      choice: isUsable ? { ...entry, language } : entry,
      warnings: [
        ...(named ? [] : [`The voice ${quoted(name)} is not known; the default voice speaks`]),
        ...(isUsable || !language
          ? []
          : [`The language ${quoted(language)} is not one of BCP 47; it is left out`]),
      ],
    }
  }

  #named(name: string): VoiceEntry | undefined {
    const key = name.trim().toLowerCase()
    return this.#exact.get(key) ?? this.#prefixes.find(([prefix]) => key.startsWith(prefix))?.[1]
  }

  /** `man` and `woman` mean no certain voice, so they leave a default behind HTTP in its place. */
  #ofBuiltIn(name: string): VoiceEntry | undefined {
    const entry = builtInEntry(name)
    const isOwnName = voices.some((voice) => voice === name.trim().toLowerCase())
    return entry && !isOwnName && this.#default.engine !== builtIn ? this.#default : entry
  }
}

/** As it stands in a warning: not all of it, as documents may say anything. */
const quoted = (text = ''): string => JSON.stringify(text.length > 30 ? `${text.slice(0, 30)}…` : text)

const builtInEntry = (name: string): VoiceEntry | undefined => {
  const voice = voiceNamed(name)
  return voice && { engine: builtIn, voice }
}
