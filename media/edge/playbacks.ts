import type { Playback, PlayRequest } from '../types.ts'
import type { PlayCommand, PortNumber } from './protocol.ts'

/** Sounds played on one port or mixer; only the last one is audible. */
export class Playbacks {
  #port: PortNumber
  #send: (command: PlayCommand) => void
  #playing: { readonly play: number; readonly settle: (how: 'finished' | 'stopped') => void } | undefined
  #numbers = 0
  #isClosed = false

  constructor(port: PortNumber, send: (command: PlayCommand) => void) {
    this.#port = port
    this.#send = send
  }

  /** Plays a sound in place of the current one; no effect when closed. */
  play({ prompt, loop = 1, volumeDb = 0 }: PlayRequest): Playback {
    this.#settle('stopped')
    const play = ++this.#numbers
    const port = this.#port
    const { promise: done, resolve: settle } = Promise.withResolvers<'finished' | 'stopped'>()
    if (this.#isClosed) settle('stopped')
    else {
      const { samples, sampleRate } = prompt
      this.#playing = { play, settle }
      this.#send({ op: 'play', port, play, samples, sampleRate, loop, volumeDb })
    }
    const tell = (command: PlayCommand) => {
      if (this.#playing?.play === play) this.#send(command)
    }
    return {
      done,
      pause: () => tell({ op: 'pause', port, play }),
      resume: () => tell({ op: 'resume', port, play }),
      setVolume: (db) => tell({ op: 'volume', port, play, volumeDb: db }),
      stop: () => {
        tell({ op: 'stop', port, play })
        if (this.#playing?.play === play) this.#settle('stopped')
      },
    }
  }

  /** Processes the thread's report that a sound has finished. */
  played(play: number): void {
    if (this.#playing?.play === play) this.#settle('finished')
  }

  /** Stops everything, permanently. */
  close(): void {
    this.#isClosed = true
    this.#settle('stopped')
  }

  #settle(how: 'finished' | 'stopped'): void {
    const playing = this.#playing
    this.#playing = undefined
    playing?.settle(how)
  }
}
