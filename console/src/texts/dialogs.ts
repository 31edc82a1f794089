import type { TextsOf } from './en.ts'
import { language } from './language.ts'

const en = {
  offers: 'Suggestions',
  deviceCheck: 'Check your devices',
  deviceCheckHint: 'Callers hear you only if the browser may use the microphone.',
  microphoneWorks: 'The microphone works. Speak: the bar must move.',
  howToAllow: 'How to allow it',
  shortcutAnswer: 'Answer the call',
  shortcutDecline: 'Decline or hang up',
  shortcutMute: 'Mute or unmute',
  shortcutDigits: 'Send digits in a call',
  shortcutHelp: 'Show these shortcuts',
  shortcutClose: 'Close a dialog or menu',
  allowChrome: 'Click the icon at the left of the address bar, switch Microphone on, then reload the page.',
  allowFirefox:
    'Click the crossed-out microphone in the address bar, remove the block, then reload the page.',
  allowSafari: 'Open Safari, Settings for this website, set Microphone to Allow, then reload the page.',
  transferTitle: (name: string) => `Transfer ${name}`,
  addTitle: (name: string) => `Add a person to the call with ${name}`,
  addToCall: 'Add to the call',
  removePerson: (name: string) => `Remove ${name}`,
  transferNow: 'Transfer now',
  askFirst: 'Ask first',
  transferOfMany: 'A call with added persons cannot be transferred.',
} as const

/** Texts of the dialogs, which are loaded with them. */
export type DialogTexts = TextsOf<typeof en>

const de: DialogTexts = {
  offers: 'Vorschläge',
  deviceCheck: 'Geräte prüfen',
  deviceCheckHint: 'Man hört Sie nur, wenn der Browser das Mikrofon benutzen darf.',
  microphoneWorks: 'Das Mikrofon funktioniert. Sprechen Sie: Der Balken muss sich bewegen.',
  howToAllow: 'So erlauben Sie es',
  shortcutAnswer: 'Anruf annehmen',
  shortcutDecline: 'Ablehnen oder auflegen',
  shortcutMute: 'Stummschalten ein oder aus',
  shortcutDigits: 'Ziffern im Gespräch senden',
  shortcutHelp: 'Diese Tastenkürzel anzeigen',
  shortcutClose: 'Dialog oder Menü schließen',
  allowChrome:
    'Klicken Sie auf das Symbol links in der Adresszeile, schalten Sie das Mikrofon ein, ' +
    'und laden Sie die Seite neu.',
  allowFirefox:
    'Klicken Sie auf das durchgestrichene Mikrofon in der Adresszeile, heben Sie die Sperre auf, ' +
    'und laden Sie die Seite neu.',
  allowSafari:
    'Öffnen Sie in Safari die Einstellungen für diese Website, erlauben Sie das Mikrofon, ' +
    'und laden Sie die Seite neu.',
  transferTitle: (name) => `${name} weiterleiten`,
  addTitle: (name) => `Person zum Gespräch mit ${name} hinzufügen`,
  addToCall: 'Zum Gespräch hinzufügen',
  removePerson: (name) => `${name} entfernen`,
  transferNow: 'Sofort weiterleiten',
  askFirst: 'Erst rückfragen',
  transferOfMany: 'Ein Gespräch mit hinzugefügten Personen kann nicht weitergeleitet werden.',
}

/** Texts by language. */
export const catalogue = { en, de }

/** Returns the texts of the dialogs in the language of the page. */
export const dialogTexts = (): DialogTexts => catalogue[language()]
