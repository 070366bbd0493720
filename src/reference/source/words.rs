//! The closed sets of words in the reference data.

words! {
    /// How pressing something is.
    Priority { Critical = "critical", High = "high", Medium = "medium", Low = "low" }
}
words! {
    /// How bad a risk is, from its score.
    Level { Critical = "critical", High = "high", Medium = "medium", Low = "low" }
}
words! {
    /// What is being done about a risk.
    RiskStatus { Open = "open", Mitigating = "mitigating", Accepted = "accepted", Closed = "closed" }
}
words! {
    /// How much depends on a vendor.
    Criticality { Critical = "critical", Important = "important", Standard = "standard" }
}
words! {
    /// How demanding a drill or a course is.
    Difficulty { Beginner = "beginner", Intermediate = "intermediate", Advanced = "advanced", Expert = "expert" }
}
words! {
    /// The five pillars of DORA.
    Pillar {
        IctRiskManagement = "ict_risk_management",
        IncidentManagement = "incident_management",
        ResilienceTesting = "resilience_testing",
        ThirdPartyRisk = "third_party_risk",
        InformationSharing = "information_sharing",
    }
}
words! {
    /// The part of a pillar that a measure belongs to.
    Area {
        Governance = "governance", Framework = "framework", Identification = "identification",
        Protection = "protection", Detection = "detection", ResponseRecovery = "response_recovery",
        Learning = "learning", Communication = "communication", SimplifiedFramework = "simplified_framework",
        Incidents = "incidents", Testing = "testing", ThirdParty = "third_party", Sharing = "sharing",
    }
}
words! {
    /// For whom a measure is meant: all, few, or certain kinds of entity.
    Reach { Core = "core", Extended = "extended", Special = "special" }
}
words! {
    /// What kind of document an evidence item is.
    EvidenceKind {
        Policy = "policy", Plan = "plan", Document = "document",
        Register = "register", Report = "report", Record = "record",
    }
}
words! {
    /// The frameworks of the gap analysis and of compliance status.
    Framework { Dora = "dora", Marisk = "marisk", Iso27001 = "iso-27001", Nis2 = "nis2", Cra = "cra" }
}
words! {
    /// How far a requirement is met.
    Implementation { Implemented = "implemented", Partial = "partial", Planned = "planned", Missing = "missing" }
}
words! {
    /// Whether the day of a date is known, or only its month.
    DatePrecision { Day = "day", Month = "month" }
}
words! {
    /// How much a radar signal matters to a small entity.
    Relevance { High = "high", Medium = "medium", Low = "low" }
}
words! {
    /// What kind of signal it is.
    SignalKind {
        Circular = "circular", Communication = "communication", Consultation = "consultation",
        Deadline = "deadline", Decision = "decision", FinalReport = "final_report", Framework = "framework",
        Guidance = "guidance", Law = "law", Level2Act = "level_2_act", Opinion = "opinion",
        Proposal = "proposal", Report = "report", RiskReport = "risk_report",
    }
}
words! {
    /// The body of rules that a radar signal speaks about.
    SignalFramework {
        Dora = "dora", Marisk = "marisk", Iso27001 = "iso-27001", Nis2 = "nis2",
        Cra = "cra", AiAct = "ai-act", Psd2 = "psd2", Gdpr = "gdpr",
    }
}
words! {
    /// The body of rules that a milestone belongs to.
    MilestoneFramework {
        AiAct = "ai-act", Amlr = "amlr", Cloud = "cloud", Cra = "cra", CrdVi = "crd-vi",
        CyberStressTest = "cyber-stress-test", DataAct = "data-act", DigitalOmnibus = "digital-omnibus",
        Dora = "dora", Eidas2 = "eidas2", InstantPayments = "instant-payments", Iso27001 = "iso-27001",
        Kritis = "kritis", Marisk = "marisk", Micar = "micar", Nis2 = "nis2", Psd3Psr = "psd3-psr",
        ThirdPartyRisk = "third-party-risk", Tlpt = "tlpt",
    }
}
words! {
    /// What kind of milestone it is.
    MilestoneCategory {
        Agreement = "agreement", Circular = "circular", Consultation = "consultation", Deadline = "deadline",
        Decision = "decision", Framework = "framework", Guidance = "guidance", Legislation = "legislation",
        Level2 = "level_2", Plan = "plan", Proposal = "proposal", Report = "report", Review = "review",
        Standard = "standard", Supervision = "supervision",
    }
}
words! {
    /// What a dashboard widget shows.
    WidgetKind {
        Score = "score", Counter = "counter", List = "list",
        Chart = "chart", Matrix = "matrix", Timeline = "timeline",
    }
}
words! {
    /// How much room a widget takes.
    WidgetSize { Small = "small", Medium = "medium", Large = "large" }
}
words! {
    /// The five dimensions of the vendor scorecard.
    DimensionKey {
        Security = "security", Resilience = "resilience", Compliance = "compliance",
        Financial = "financial", Exit = "exit",
    }
}
words! {
    /// A vendor's mark.
    Rating { A = "A", B = "B", C = "C", D = "D" }
}

impl Level {
    /// The level of a score from 1 to 25.
    pub fn of_score(score: u8) -> Level {
        match score {
            16.. => Level::Critical,
            10..=15 => Level::High,
            5..=9 => Level::Medium,
            0..=4 => Level::Low,
        }
    }
}

impl Rating {
    /// The mark of an overall score from 0 to 100.
    pub fn of_score(score: u32) -> Rating {
        match score {
            80.. => Rating::A,
            70..=79 => Rating::B,
            60..=69 => Rating::C,
            0..=59 => Rating::D,
        }
    }
}
