import { type Gender, genderByName, genderOf, voiceByGender, voiceByName, voices } from './built-in-text.ts'
import { builtIn } from './built-in-voice.ts'
import { SoundError } from './errors.ts'
import { isLanguage } from './language.ts'

/** Voice that documents may name. */
export interface VoiceEntry {
  /** Name of an HTTP voice, or `built-in`. */
  readonly engine: string
  /** Voice by the engine's name; default the engine's own. */
  readonly voice?: string
  /** BCP 47 tag, used if a document names none. */
  readonly language?: string
  /** Default: the gender of a built-in voice; else none. */
  readonly gender?: Gender
}

/** Selected voice. */
export type VoiceChoice = Omit<VoiceEntry, 'gender'>

/** Voice requested by a document; an empty text counts as absent. */
export interface VoiceQuery {
  readonly name?: string | undefined
  readonly language?: string | undefined
  /** `male`, `man`, `female` or `woman`: used if no known voice is named. */
  readonly gender?: string | undefined
}

/** Selected voice with warnings. */
export interface VoiceSelection {
  readonly choice: VoiceChoice
  /** Requested properties that are unavailable. */
  readonly warnings: readonly string[]
}

/** Selects voices for documents. Names are case-insensitive. */
export class VoiceTable {
  readonly #exact = new Map<string, VoiceEntry>()
  /** Voices by prefix, longest first, so that the closest match wins. */
  readonly #prefixes: readonly (readonly [prefix: string, entry: VoiceEntry])[]
  /** Entries in the order of the table. */
  readonly #all: readonly VoiceEntry[]
  readonly #default: VoiceEntry

  /**
   * `table` has names, or prefixes such as `polly.*`; `fallback` is a name in it or a built-in voice. Throws
   * a {@link SoundError} for an unknown fallback.
   */
  constructor(table: Readonly<Record<string, VoiceEntry>>, fallback: string) {
    const prefixes: [string, VoiceEntry][] = []
    for (const [name, entry] of Object.entries(table)) {
      const key = name.toLowerCase()
      if (key.endsWith('*')) prefixes.push([key.slice(0, -1), entry])
      else this.#exact.set(key, entry)
    }
    this.#all = Object.values(table)
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
   * Selects the voice of that name, in that language. Without a known name it is the default voice. If the
   * default has another gender than requested, it is the first in the table with that gender and language.
   * Unknown names, as documents for other services have, and invalid languages and genders give warnings.
   */
  choose({ name, language, gender }: VoiceQuery): VoiceSelection {
    const known = name ? (this.#named(name) ?? this.#ofBuiltIn(name)) : undefined
    // `man` or `woman` as a voice name means a gender.
    const wanted = gender ? genderByName(gender) : name ? genderByName(name) : undefined
    const isUsable = language ? isLanguage(language) : false
    const entry = known ?? this.#ofGender(wanted, isUsable ? language : undefined)
    const { gender: _, ...voice } = entry
    const substitute = entry === this.#default ? 'the default voice' : 'another'
    return {
      choice: isUsable ? { ...voice, language } : voice,
      warnings: [
        ...(known || !name || genderByName(name)
          ? []
          : [`The voice ${quoted(name)} is not known; ${substitute} speaks`]),
        ...(isUsable || !language
          ? []
          : [`The language ${quoted(language)} is not one of BCP 47; it is left out`]),
        ...(gender && !genderByName(gender)
          ? [`The gender ${quoted(gender)} is neither male nor female; it is left out`]
          : []),
        ...(known || !this.#isOther(entry, wanted)
          ? []
          : [`No voice is known to be ${wanted}; the default voice speaks`]),
      ],
    }
  }

  #named(name: string): VoiceEntry | undefined {
    const key = name.trim().toLowerCase()
    return this.#exact.get(key) ?? this.#prefixes.find(([prefix]) => key.startsWith(prefix))?.[1]
  }

  #ofBuiltIn(name: string): VoiceEntry | undefined {
    return genderByName(name) ? undefined : builtInEntry(name)
  }

  /**
   * Returns a voice of the gender. Never replaces a default voice behind HTTP by a built-in one, nor a voice
   * that speaks the language by one that does not.
   */
  #ofGender(gender: Gender | undefined, language = this.#default.language): VoiceEntry {
    if (!gender || this.#genderOf(this.#default) === gender) return this.#default
    const found = this.#all.find(
      (entry) => this.#genderOf(entry) === gender && isSameLanguage(entry.language, language),
    )
    if (found) return found
    return this.#default.engine === builtIn
      ? { engine: builtIn, voice: voiceByGender(gender) }
      : this.#default
  }

  #genderOf({ gender, engine, voice }: VoiceEntry): Gender | undefined {
    if (gender || engine !== builtIn) return gender
    // An entry without a built-in voice uses the built-in voice of the default entry.
    const own = voice ?? (this.#default.engine === builtIn ? this.#default.voice : undefined)
    return genderOf((own && voiceByName(own)) || voices[0])
  }

  #isOther(entry: VoiceEntry, wanted: Gender | undefined): boolean {
    const own = this.#genderOf(entry)
    return wanted !== undefined && own !== undefined && own !== wanted
  }
}

/** Quotes a text for a warning, truncated because documents are untrusted. */
const quoted = (text = ''): string => JSON.stringify(text.length > 30 ? `${text.slice(0, 30)}…` : text)

/** Whether two languages match by primary tag (`en` and `en-GB`); an absent one matches any. */
const isSameLanguage = (one: string | undefined, other: string | undefined): boolean => {
  const primary = (tag: string) => tag.toLowerCase().split(/[-_]/)[0]
  return !one || !other || primary(one) === primary(other)
}

const builtInEntry = (name: string): VoiceEntry | undefined => {
  const voice = voiceByName(name)
  return voice && { engine: builtIn, voice }
}
