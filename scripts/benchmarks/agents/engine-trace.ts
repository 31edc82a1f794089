/** Everything that passes between the gateway and the stand-ins, with times of the monotonic clock. */
import { isJsonObject } from '../../../gateway/core/json.ts'
import { toSamples } from '../../../gateway/stand-ins/audio-format.ts'
import type { JournalEntry, JournalObserver } from '../../../gateway/stand-ins/journal.ts'

/** Event at a stand-in. */
export interface TracedEvent extends Pick<JournalEntry, 'engine' | 'connection' | 'what' | 'type'> {
  /** Time in ms of the monotonic clock, as of `performance.now()`. */
  readonly at: number
  /** The message, or the bytes of raw audio. */
  readonly content: unknown
}

/** Audio at a stand-in. */
export interface TracedAudio {
  readonly at: number
  readonly samples: Int16Array
}

/** Record of the stand-ins of this process, so that one clock gives the times of all ends. */
export class EngineTrace {
  #events: TracedEvent[] = []

  /** Observer for the stand-ins. */
  readonly observe: JournalObserver = ({ engine, connection, what, type }, content) => {
    this.#events.push({ at: performance.now(), engine, connection, what, type, content })
  }

  clear(): void {
    this.#events = []
  }

  /** Returns the events of one type, the oldest first. */
  all(what: TracedEvent['what'], type: string): readonly TracedEvent[] {
    return this.#events.filter((event) => event.what === what && event.type === type)
  }

  /** Returns the audio of the caller that the real-time engine or the recogniser got. */
  received(): readonly TracedAudio[] {
    return [...this.all('received', 'input_audio_buffer.append'), ...this.all('received', 'audio')].map(
      audioOf,
    )
  }

  /** Returns the audio that the real-time engine gave. */
  sent(): readonly TracedAudio[] {
    return this.all('sent', 'response.output_audio.delta').map(audioOf)
  }
}

/** Decodes PCMU of a real-time engine, and 16-bit samples of a recogniser. */
const audioOf = ({ at, content }: TracedEvent): TracedAudio => {
  if (!isJsonObject(content))
    return { at, samples: toSamples(content as Uint8Array, { coding: 'pcm', rate: 8000 }) }
  const bytes = Buffer.from(String(content.audio ?? content.delta), 'base64')
  return { at, samples: toSamples(bytes, { coding: 'PCMU', rate: 8000 }) }
}
