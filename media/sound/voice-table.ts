import { type Gender, genderNamed, genderOf, voiceNamed, voiceOf, voices } from './built-in-text.ts'
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
  /** Default: that of a built-in voice, and of no other. */
  readonly gender?: Gender
}

/** Which voice speaks. */
export type VoiceChoice = Omit<VoiceEntry, 'gender'>

/** What a document says of the voice that it wants; an empty text says nothing. */
export interface VoiceWanted {
  readonly name?: string | undefined
  readonly language?: string | undefined
  /** `male`, `man`, `female` or `woman`: of the voice where none is named, or one that nobody knows. */
  readonly gender?: string | undefined
}

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
  /** In the order of the table. */
  readonly #all: readonly VoiceEntry[]
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
   * The voice by this name, in this language. Where none is named, it is the default, or, where that is of another gender than is wanted, the
   * first of the table that has it and the language. So it is for a name that nobody knows, as documents for other services name voices of
   * theirs, and what is no language or no gender is left out: these are warned of.
   */
  choose({ name, language, gender }: VoiceWanted): Chosen {
    const known = name ? (this.#named(name) ?? this.#ofBuiltIn(name)) : undefined
    // A document that has man or woman for a voice means a gender, and no certain voice.
    const wanted = gender ? genderNamed(gender) : name ? genderNamed(name) : undefined
    const isUsable = language ? isLanguage(language) : false
    const entry = known ?? this.#ofGender(wanted, isUsable ? language : undefined)
    const { gender: _, ...voice } = entry
    return {
      choice: isUsable ? { ...voice, language } : voice,
      warnings: [
        ...(known || !name || genderNamed(name)
          ? []
          : [
              `The voice ${quoted(name)} is not known; ${entry === this.#default ? 'the default voice' : 'another'} speaks`,
            ]),
        ...(isUsable || !language
          ? []
          : [`The language ${quoted(language)} is not one of BCP 47; it is left out`]),
        ...(gender && !genderNamed(gender)
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
    return genderNamed(name) ? undefined : builtInEntry(name)
  }

  /** A default behind HTTP is left for no built-in voice, and one that speaks the language for none that does not. */
  #ofGender(gender: Gender | undefined, language = this.#default.language): VoiceEntry {
    if (!gender || this.#genderOf(this.#default) === gender) return this.#default
    const found = this.#all.find(
      (entry) => this.#genderOf(entry) === gender && isSameLanguage(entry.language, language),
    )
    if (found) return found
    return this.#default.engine === builtIn ? { engine: builtIn, voice: voiceOf(gender) } : this.#default
  }

  #genderOf({ gender, engine, voice }: VoiceEntry): Gender | undefined {
    if (gender || engine !== builtIn) return gender
    // Where an entry names no built-in voice, that of the default speaks.
    const own = voice ?? (this.#default.engine === builtIn ? this.#default.voice : undefined)
    return genderOf((own && voiceNamed(own)) || voices[0])
  }

  #isOther(entry: VoiceEntry, wanted: Gender | undefined): boolean {
    const own = this.#genderOf(entry)
    return wanted !== undefined && own !== undefined && own !== wanted
  }
}

/** As it stands in a warning: not all of it, as documents may say anything. */
const quoted = (text = ''): string => JSON.stringify(text.length > 30 ? `${text.slice(0, 30)}…` : text)

/** Compares as far as both say something: en and en-GB are the same here. */
const isSameLanguage = (one: string | undefined, other: string | undefined): boolean => {
  const primary = (tag: string) => tag.toLowerCase().split(/[-_]/)[0]
  return !one || !other || primary(one) === primary(other)
}

const builtInEntry = (name: string): VoiceEntry | undefined => {
  const voice = voiceNamed(name)
  return voice && { engine: builtIn, voice }
}
