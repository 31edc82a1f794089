import { setTimeout as sleep } from 'node:timers/promises'
import { levels } from '../../test/support/hearing.ts'
import type { RtpPeer } from '../../test/support/rtp-peer.ts'
import { SpokenWords } from '../../test/support/spoken-words.ts'

/** Level, as a root mean square, below which the far side is silent. */
const silence = 100
/** Silence after which the far side has finished, in ms. */
const pauseMs = 1500
/** Longest wait for that silence, in ms. */
const maxWaitMs = 30_000
const packetMs = 20

/** Words of a caller, and the engine stand-ins (`trunkline engines`) that are to understand them. */
export interface Talk {
  readonly texts: readonly string[]
  /** Base URL of the stand-ins; absent: the recogniser of the agent understands by itself. */
  readonly engines?: string
}

/** Waits until the far side has spoken and is silent again. */
const listen = async (media: RtpPeer): Promise<void> => {
  let hasSpoken = false
  for (const until = performance.now() + maxWaitMs; performance.now() < until; await sleep(100)) {
    const last = levels(media.packets.slice(-pauseMs / packetMs), 100)
    const isSilent = last.length >= pauseMs / 100 && last.every((level) => level < silence)
    if (isSilent && hasSpoken) return
    hasSpoken ||= last.some((level) => level >= silence)
  }
}

/**
 * Says each text in the built-in voice, when the far side has spoken and is silent. Resolves after the last
 * one. Rejects if the stand-ins cannot be reached.
 */
export const talk = async (media: RtpPeer, { texts, engines }: Talk): Promise<void> => {
  const words = new SpokenWords()
  try {
    const sounds = await Promise.all(texts.map((text) => words.of(text)))
    for (const [at, text] of texts.entries()) {
      await listen(media)
      if (engines !== undefined) await tell(engines, text)
      console.log(`Saying: ${text}`)
      media.say(sounds[at]!)
      await sleep((sounds[at]!.length / 160) * packetMs)
    }
  } finally {
    await words.close()
  }
}

/** Tells the stand-ins the words that they hear next. */
const tell = async (engines: string, text: string): Promise<void> => {
  const response = await fetch(new URL('/_stand-ins/hear', engines), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  })
  if (!response.ok) throw new Error(`${engines} answered with ${response.status}`)
}
