import { escapeHtml } from '../../platform/escape-html.ts';
import type { Rendered } from './render-message.ts';

export interface RenderedEmail {
  subject: string;
  text: string;
  html: string;
}

/** The inbox text, as plain text and as HTML. */
export function renderEmail(message: Rendered, publicUrl: string): RenderedEmail {
  const url = new URL(message.link, publicUrl).href;
  const settings = new URL('/notifications', publicUrl).href;
  const paragraphs = message.body.split('\n\n');
  return {
    subject: message.title,
    text: [message.title, ...paragraphs, url, `-- \nNotification settings: ${settings}`].join('\n\n'),
    html: [
      '<!doctype html><html lang="en"><head><meta charset="utf-8">',
      `<meta name="viewport" content="width=device-width"><title>${escapeHtml(message.title)}</title></head>`,
      '<body style="margin:0;padding:24px;background:#f4f5f7;font:16px/1.5 system-ui,sans-serif;color:#1b1f24">',
      '<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border-radius:8px">',
      `<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${escapeHtml(message.title)}</h1>`,
      ...paragraphs.map((paragraph) => `<p style="margin:0 0 16px">${escapeHtml(paragraph)}</p>`),
      `<p style="margin:24px 0 0"><a href="${escapeHtml(url)}" style="display:inline-block;padding:10px 16px;`,
      'background:#1b1f24;color:#fff;border-radius:6px;text-decoration:none">Open in the console</a></p></div>',
      '<p style="max-width:560px;margin:16px auto 0;font-size:13px;color:#57606a">',
      `<a href="${escapeHtml(settings)}" style="color:#57606a">Notification settings</a></p></body></html>`,
    ].join('\n'),
  };
}
