import { randomUUID } from 'node:crypto'
import type { DetectOptions, DetectResult, Finding } from '../../verbs.ts'
import { CallEnded, VerbFailed } from '../../verbs.ts'
import type { Method, ScriptContext } from '../method.ts'
import { boolean, choice, number, pattern, statusUrl } from '../schema-builders.ts'
import type { Values } from '../values.ts'

/** Returns the options whose parameters are present, in milliseconds. */
const milliseconds = (
  values: Values,
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(names).flatMap(([option, name]) => {
      const ms = values.seconds(name)
      return ms === undefined ? [] : [[option, ms]]
    }),
  )

const detectOptions = (values: Values, onFinding: (finding: Finding) => void): DetectOptions => {
  const detectors = (values.text('detectors') ?? 'amd,fax').split(',').map((word) => word.trim())
  const wordsThreshold = values.number('machine_words_threshold')
  const waitForEnd = values.boolean('detect_message_end')
  const machine = {
    ...milliseconds(values, {
      initialTimeoutMs: 'initial_timeout',
      endSilenceMs: 'end_silence_timeout',
      readyTimeoutMs: 'machine_ready_timeout',
      voiceThresholdMs: 'machine_voice_threshold',
    }),
    ...(wordsThreshold !== undefined && { wordsThreshold }),
    ...(waitForEnd !== undefined && { waitForEnd }),
  }
  return {
    ...(detectors.includes('amd') && { machine }),
    ...(detectors.includes('fax') && { fax: values.choice<'CED' | 'CNG'>('tone') ?? 'CED' }),
    ...milliseconds(values, { timeoutMs: 'timeout' }),
    onFinding,
  }
}

/** Returns a finding in the form of events. */
const eventOf = (finding: Finding) => {
  switch (finding.kind) {
    case 'fax':
      return { type: 'fax', params: { event: finding.tone } }
    case 'ready':
      return { type: 'machine', params: { event: 'READY', beep: finding.beep } }
    case 'notReady':
      return { type: 'machine', params: { event: 'NOT_READY' } }
    case 'digit':
      return { type: 'digit', params: { event: finding.digit } }
    default:
      return { type: 'machine', params: { event: finding.kind.toUpperCase() } }
  }
}

const variablesOf = (result: DetectResult): Readonly<Record<string, unknown>> => ({
  detect_result: result.kind === 'none' ? 'unknown' : result.kind,
  detect_machine_beep: result.beep ?? false,
  detect_ms: result.durationMs,
})

const detect = async (values: Values, script: ScriptContext): Promise<undefined> => {
  const send = script.events.sender(values.url('status_url'), 'calling.call.detect', {
    control_id: randomUUID(),
  })
  const options = detectOptions(values, (finding) => send({ detect: eventOf(finding) }))
  const over = () => send({ detect: { type: 'machine', params: { event: 'finished' } } })
  script.variables.assign({ detect_result: 'detecting' })
  const running = script.call.detect(options).finally(over)
  const done = running.then((result) => script.variables.assign(variablesOf(result)))
  if (values.boolean('wait') ?? true) return void (await done)
  void done.catch((error: unknown) => {
    if (error instanceof CallEnded || script.call.signal.aborted) return
    script.variables.assign({ detect_result: 'error' })
    const code = error instanceof VerbFailed ? error.code : 'internal'
    script.warn(code, error instanceof Error ? error.message : 'The detection failed.', values.path)
  })
}

/** Methods that detect the answering party. */
export const detecting: Readonly<Record<string, Method>> = {
  detect_machine: {
    description:
      'Listens to the caller to distinguish a person from an answering machine, and to detect a fax tone.',
    properties: {
      detectors: pattern(
        '^(amd|fax)( *, *(amd|fax))*$',
        'amd, fax or both, comma-separated; default both.',
        'amd, fax or amd,fax',
      ),
      detect_message_end: boolean(
        'Continues after a machine was detected until its greeting ends; default false.',
      ),
      initial_timeout: number('Maximum wait for the first sound in seconds; default 4.5.', [0.1, 60]),
      end_silence_timeout: number('Seconds of silence that end speech; default 1.', [0.1, 60]),
      machine_ready_timeout: number(
        "Seconds of silence that end a machine's greeting; default as end_silence_timeout.",
        [0.1, 60],
      ),
      machine_voice_threshold: number(
        'Seconds of speech without a pause that identify a machine; default 1.25.',
        [0.1, 60],
      ),
      machine_words_threshold: number('Number of words that identifies a machine; default 6.', [1, 100]),
      timeout: number('Maximum duration of the detection in seconds; default 30.', [1, 600]),
      tone: choice('Fax tone: CED of an answering fax, CNG of a calling fax; default CED.', ['CED', 'CNG']),
      wait: boolean('Waits for the result; false continues with the next step. Default true.'),
      status_url: statusUrl('calling.call.detect'),
    },
    failed: { detect_result: 'error' },
    run: detect,
  },
}
