import { once } from 'node:events'
import { openStandIns } from '../stand-ins/open-stand-ins.ts'
import { readScriptFile, ScriptError } from '../stand-ins/read-script.ts'
import type { StandInScript } from '../stand-ins/script-types.ts'
import { invalid } from './with-config.ts'

/** Options of {@link runEngines}. */
export interface EnginesOptions {
  /** `host:port`, with an IPv6 address in brackets. */
  readonly listen: string
  /** File of the script; default the assistant. */
  readonly script: string | undefined
}

/**
 * `trunkline engines`: serves the stand-ins of all engines until SIGTERM or SIGINT. Returns the exit code:
 * 1 if the port cannot be opened, 2 if the script is invalid.
 */
export const runEngines = async ({ listen, script: file }: EnginesOptions): Promise<number> => {
  let script: StandInScript | undefined
  try {
    script = file === undefined ? undefined : readScriptFile(file)
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error
    process.stderr.write(`trunkline: ${error.message}\n`)
    return invalid
  }
  const standIns = await openStandIns({ listen: addressOf(listen), ...(script && { script }) })
  process.stdout.write(addressesOf(standIns.url, standIns.wsUrl))
  const stopping = new AbortController()
  const { signal } = stopping
  await Promise.race(['SIGTERM', 'SIGINT'].map((name) => once(process, name, { signal })))
  stopping.abort()
  await standIns.close()
  return 0
}

const addressOf = (listen: string): { readonly host: string; readonly port: number } => {
  const at = listen.lastIndexOf(':')
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) }
}

/** Name of the method of Gemini Live, which is the end of its address. */
const geminiMethod = 'google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'

/** Returns the addresses that a configuration needs, one in a line. */
const addressesOf = (url: string, wsUrl: string): string =>
  [
    `Stand-ins of engines at ${url}. End them with Ctrl+C.`,
    '',
    `  chat completions     ${url}/v1`,
    `  speech, files        ${url}/v1`,
    `  OpenAI Realtime      ${wsUrl}/v1/realtime`,
    `  OpenAI Live          ${wsUrl}/v1/live/sessions`,
    `  Gemini Live          ${wsUrl}/ws/${geminiMethod}`,
    `  Deepgram             ${wsUrl}`,
    `  ElevenLabs           ${wsUrl}`,
    `  Ultravox             ${url}/api/calls`,
    `  Vosk                 ${wsUrl}/vosk`,
    `  Piper                ${url}/`,
    '',
    `  everything received  ${url}/_stand-ins/log`,
    '',
  ].join('\n')
