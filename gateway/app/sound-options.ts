import type { MediaConfig, SpeechEngineConfig } from '../../config/types.ts'
import type { HttpVoiceOptions } from '../../media/sound/http-voice.ts'
import type { SoundsOptions } from '../../media/sound/sounds.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { folderFault } from '../core/make-folder.ts'
import type { Metrics } from '../core/metrics.ts'

/** Bytes of a mebibyte, the unit of sizes in the configuration. */
export const mebibyte = 1024 * 1024

/** Returns the options of the sounds from the configuration. */
export const soundsOptions = (
  { sounds, speech }: Pick<MediaConfig, 'sounds' | 'speech'>,
  clock: Pick<Clock, 'now'>,
  log: Log,
  metrics: Pick<Metrics, 'sounds' | 'speech'>,
): SoundsOptions => {
  const { folder, folderSize, engines, voice, voices } = speech
  const onFault = (error: Error) =>
    log.warn({ event: 'speech.folder-unusable', err: error }, 'speech folder not usable')
  const fault = folder === undefined ? undefined : folderFault(folder)
  if (fault) onFault(new Error(`The folder ${folder} ${fault}.`))
  return {
    voice,
    voices,
    engines: engines.map(engineOptions),
    ...(folder &&
      // A write below a folder such as /proc would never end.
      !fault && {
        folder: { path: folder, maxBytes: folderSize * mebibyte, now: () => clock.now(), onFault },
      }),
    cacheBytes: sounds.memory * mebibyte,
    maxAudioBytes: sounds.maxSize * mebibyte,
    maxAudioSeconds: sounds.maxDurationMs / 1000,
    observer: {
      onPrepared: (kind, by) => metrics.sounds.inc({ kind, by }),
      onSpeech: (engine, result) => metrics.speech.inc({ engine, result }),
    },
  }
}

const engineOptions = (config: SpeechEngineConfig): HttpVoiceOptions => {
  const { name, url, voice, language, timeoutMs, ssml } = config
  const common = { name, url, timeoutMs, ssml, ...(voice && { voice }), ...(language && { language }) }
  if (config.kind === 'openai') {
    const { model = '', format = 'wav', key } = config
    return { ...common, kind: 'openai', model, format, ...(key && { key }) }
  }
  const { method = 'POST', headers = {}, body } = config
  return { ...common, kind: 'template', method, headers, ...(body !== undefined && { body }) }
}
