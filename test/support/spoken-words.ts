/** Speech of callers: texts in the built-in voice. */
export { CallerVoice as SpokenWords } from '../../gateway/agent-test/sound/caller-voice.ts'
