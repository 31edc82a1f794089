import { ClientError } from '@trunkline/client'
import type { Devices } from './devices.ts'

// Codes of the SDK for errors of getUserMedia.
const codes: Readonly<Record<string, 'microphone_refused' | 'microphone_missing'>> = {
  NotAllowedError: 'microphone_refused',
  NotFoundError: 'microphone_missing',
}

const open = async (constraints: MediaStreamConstraints): Promise<MediaStream> => {
  if (!navigator.mediaDevices) throw new ClientError('insecure_page', 'no TLS')
  try {
    return await navigator.mediaDevices.getUserMedia(constraints)
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : ''
    throw new ClientError(codes[name] ?? 'microphone_failed', name, { cause })
  }
}

/**
 * Opens the chosen microphone, and the camera if `video` and the computer has one. Rejects with
 * `ClientError`.
 */
export const openDevices = async (devices: Devices, video: boolean): Promise<MediaStream> => {
  const { audio = true, video: camera = false } = devices.options({ video })
  try {
    return await open({ audio, video: camera })
  } catch (error) {
    const isMissing = error instanceof ClientError && error.code === 'microphone_missing'
    if (isMissing && video) return open({ audio })
    throw error
  }
}

/** Plays a test sound at the chosen loudspeaker, where the browser allows the choice. */
export const playTestSound = async (audio: AudioContext, speaker: string | undefined): Promise<void> => {
  const output = audio as AudioContext & { setSinkId?(id: string): Promise<void> }
  if (audio.state === 'suspended') await audio.resume()
  await output.setSinkId?.(speaker ?? '').catch(() => {})
  const start = audio.currentTime
  for (const [at, frequency] of [523, 659, 784].entries()) {
    const tone = audio.createOscillator()
    const gain = audio.createGain()
    const from = start + at * 0.25
    gain.gain.setValueAtTime(0, from)
    gain.gain.linearRampToValueAtTime(0.2, from + 0.03)
    gain.gain.linearRampToValueAtTime(0, from + 0.24)
    tone.frequency.value = frequency
    tone.connect(gain).connect(audio.destination)
    tone.start(from)
    tone.stop(from + 0.25)
  }
}
