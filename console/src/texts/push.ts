import { language } from './language.ts'

const catalogue = {
  en: {
    unsupported: 'This browser cannot show notifications of this page. Open the page with https.',
    blocked: 'Notifications are blocked. Allow them for this page in the browser settings.',
    off: 'See incoming calls while this page is hidden.',
    open: 'You are notified of calls while this page is open, even when it is hidden.',
    always:
      'You are notified of calls even when this page is closed. ' +
      'You stay signed in on this browser until you sign out.',
    notOffered:
      'You are not notified while this page is closed. ' +
      'For that, the gateway needs push notifications (push.webPush in its configuration).',
    subscribeFailed:
      'The push service of this browser cannot be reached. You are notified only while this page is open.',
    registerFailed: 'Notifications could not be set up. Please try again.',
  },
  de: {
    unsupported: 'Dieser Browser kann hier nicht benachrichtigen. Öffnen Sie die Seite mit https.',
    blocked: 'Benachrichtigungen sind blockiert. Erlauben Sie sie in den Einstellungen des Browsers.',
    off: 'Sehen Sie eingehende Anrufe, auch wenn diese Seite verdeckt ist.',
    open: 'Sie werden über Anrufe benachrichtigt, solange diese Seite geöffnet ist.',
    always:
      'Sie werden über Anrufe benachrichtigt, auch wenn diese Seite geschlossen ist. ' +
      'Sie bleiben in diesem Browser angemeldet, bis Sie sich abmelden.',
    notOffered:
      'Bei geschlossener Seite werden Sie nicht benachrichtigt. ' +
      'Dafür braucht das Gateway Push-Benachrichtigungen (push.webPush in der Konfiguration).',
    subscribeFailed:
      'Der Push-Dienst des Browsers ist nicht erreichbar. ' +
      'Sie werden nur bei geöffneter Seite benachrichtigt.',
    registerFailed: 'Benachrichtigungen konnten nicht eingerichtet werden. Bitte versuchen Sie es erneut.',
  },
} as const

/** Texts of the settings of notifications, which are loaded with the settings. */
export type PushTexts = { readonly [Key in keyof (typeof catalogue)['en']]: string }

/** Returns the texts of the settings of notifications in the language of the page. */
export const pushTexts = (): PushTexts => catalogue[language()]
