// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import HTTPTypes
import Hummingbird
import NIOCore

/// The page for a browser that opened a refused address. It gives the reason and the remedy. It needs no script,
/// because this device serves no script to a request with a foreign Host.
enum DeadEnd {
    /// The page for a refusal, in the language that the browser asks for.
    static func page(_ refusal: Dashboard.Refusal, for request: Request) -> Response {
        let language = Language(accepted: request.headers[.acceptLanguage])
        let sentence = refusal.text.map { language.text($0) } ?? language.text(named: refusal.message)
        return Response(
            status: .init(code: refusal.status), headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text(sentence, language))))
    }

    private static func text(_ sentence: String, _ language: Language) -> String {
        let way = language.text(named: "Open the page")
        return """
            <!doctype html>
            <html lang="\(language.rawValue)">
            <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">
                <title>RoadMesh</title>
                <link rel="icon" href="/icon.svg" type="image/svg+xml">
                <link rel="stylesheet" href="/style.css">
                <link rel="stylesheet" href="/small.css">
                <link rel="stylesheet" href="/night.css" media="(prefers-color-scheme: dark)">
            </head>
            <body>
                <header><h1>RoadMesh</h1></header>
                <main id="join"><div class="join">
                    <p role="alert">\(escaped(sentence))</p>
                    <p><a href="/">\(escaped(way))</a></p>
                </div></main>
            </body>
            </html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
