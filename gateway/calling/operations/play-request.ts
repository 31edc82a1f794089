import type { PlayOptions, Sound } from '../../../handlers/verbs.ts'
import { Fields } from './command-fields.ts'

const maxSounds = 50
const maxVolumeDb = 40

/** Reads `play` and `volume` of a request. */
export const readPlay = (params: Fields): Pick<PlayOptions, 'sounds' | 'volumeDb'> => {
  const sounds = params.list('play', maxSounds, readSound)
  if (sounds.length === 0) throw params.wrong('play', 'a list of something to play')
  const volumeDb = params.number('volume', -maxVolumeDb, maxVolumeDb)
  return { sounds, ...(volumeDb !== undefined && { volumeDb }) }
}

/** Reads `ringback` of a request; undefined if absent. */
export const readRingback = (params: Fields): readonly Sound[] | undefined => {
  const sounds = params.list('ringback', maxSounds, readSound)
  return sounds.length > 0 ? sounds : undefined
}

const kinds = ['tts', 'audio', 'silence', 'ringtone'] as const

/** An item of a playlist: `{type, params}`. */
const readSound = (value: unknown, path: string): Sound => {
  const item = new Fields(value, path)
  const params = item.fields('params') ?? new Fields({}, `${path}.params`)
  switch (item.oneOf('type', kinds)) {
    case 'tts':
      return readSpeech(params)
    case 'audio':
      return { kind: 'audio', url: params.needed('url') }
    case 'silence':
      return { kind: 'silence', ms: params.seconds('duration') ?? 0 }
    case 'ringtone': {
      const ms = params.seconds('duration')
      return { kind: 'ringtone', country: params.needed('name'), ...(ms !== undefined && { ms }) }
    }
    default:
      throw item.wrong('type', `one of ${kinds.join(', ')}`)
  }
}

const readSpeech = (params: Fields): Sound => {
  const voice = params.text('voice')
  const language = params.text('language')
  const gender = params.text('gender')
  const how = { ...(voice && { voice }), ...(language && { language }), ...(gender && { gender }) }
  return { kind: 'speech', text: params.needed('text'), ...how }
}
